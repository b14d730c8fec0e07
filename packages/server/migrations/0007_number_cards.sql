-- phase: migrate, in batches
-- Numbers the cards of each board in the order of their creation, under the board lock. A card that was committed between the
-- start of the statement and the lock is not visible here; the next migration numbers it.
with locked as materialized (
  select board_id, coalesce(card_count, 1000) as cards from board_stream where last_card_number is null
  limit 100 for update skip locked
), picked as materialized (
  select board_id from (
    select board_id, sum(cards) over (order by board_id rows between unbounded preceding and 1 preceding) as cards_before from locked
  ) sized
  where cards_before is null or cards_before < 2000
), numbered as (
  update cards card set number = ranked.number
  from (
    select card.board_id, card.id, row_number() over (partition by card.board_id order by card.created_at, card.id) as number
    from cards card join picked on picked.board_id = card.board_id
  ) ranked
  where card.board_id = ranked.board_id and card.id = ranked.id
  returning card.board_id, card.number
)
update board_stream stream set last_card_number = coalesce(
  (select max(numbered.number) from numbered where numbered.board_id = picked.board_id), 0)
from picked where stream.board_id = picked.board_id;
-- left
select from board_stream where last_card_number is null limit 1
