-- phase: expand
-- A stored answer goes with its board. One without a board would never go; every version names it.
alter table stored_answers add constraint stored_answers_have_boards check (board_id is not null) not valid;
