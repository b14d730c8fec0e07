-- phase: expand, no transaction
-- Stored answers are kept for a day. This finds those of users who do not come back.
create index concurrently if not exists stored_answers_by_age on stored_answers (created_at);
