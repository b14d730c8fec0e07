-- phase: migrate, in batches
-- Finds the cards of the events that were logged before the previous migration.
with found as materialized (
  select event.board_id, event.seq, card_of_event(event) as card_id from board_events event
  where event.card_id is null and card_of_event(event) is not null
  limit 500 for update skip locked
)
update board_events event set card_id = found.card_id from found where event.board_id = found.board_id and event.seq = found.seq;
-- left
select from board_events event where event.card_id is null and card_of_event(event) is not null limit 1
