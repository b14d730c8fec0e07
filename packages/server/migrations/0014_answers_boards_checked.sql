-- phase: migrate, no transaction
-- Reads the table once, beside the requests, so that the next step need not.
alter table stored_answers validate constraint stored_answers_have_boards;
