-- phase: expand
-- Beside the board lock, because every access check reads this row. Null: the board is not archived.
alter table board_stream add column archived_at timestamptz(3);
