-- phase: expand
-- because: the previous release selects the cards of a board by their column, so it does not see a card without one.
-- Null: the card was archived or deleted. Then it is in no list, and `removals` has the column it was in.
alter table cards alter column column_id drop not null;
