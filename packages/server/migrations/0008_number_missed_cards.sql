-- phase: migrate, in batches
-- Numbers the cards that were created while the previous migrations ran. By now every new card gets a number.
with missed as materialized (
  select distinct board_id from cards where number is null limit 100
), locked as materialized (
  select board_id, coalesce(last_card_number, 0) as last_number from board_stream where board_id in (select board_id from missed)
  for update skip locked
), numbered as (
  update cards card set number = ranked.number
  from (
    select card.board_id, card.id,
      locked.last_number + row_number() over (partition by card.board_id order by card.created_at, card.id) as number
    from cards card join locked on locked.board_id = card.board_id where card.number is null
  ) ranked
  where card.board_id = ranked.board_id and card.id = ranked.id
  returning card.board_id, card.number
)
update board_stream stream set last_card_number = newest.number
from (select board_id, max(number) as number from numbered group by board_id) newest where stream.board_id = newest.board_id;
-- left
select from cards where number is null limit 1
