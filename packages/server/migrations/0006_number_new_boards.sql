-- phase: expand
-- After the trigger: the cards of a board with a number are numbered from its first card on.
alter table board_stream alter column last_card_number set default 0;
