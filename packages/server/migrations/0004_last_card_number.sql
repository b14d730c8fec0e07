-- phase: expand
-- The number of the newest card of the board. Null: its cards have no numbers yet.
alter table board_stream add column last_card_number bigint;
