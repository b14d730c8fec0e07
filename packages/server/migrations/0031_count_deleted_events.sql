-- phase: migrate, in batches
-- Adds the events that were deleted before the previous migration, in one batch: the numbers of a board's events have no gaps, so all
-- before the first one were deleted. The trigger counts what is deleted meanwhile, which is not in this snapshot. Boards in order, because
-- neighbours share pages of the index.
with incomplete as materialized (
  select is_only from deleted_events where not is_complete limit 1 for no key update skip locked
)
update deleted_events total set count = total.count + before.count, is_complete = true
from incomplete, (
  select coalesce(sum(coalesce(
      (select seq from board_events where board_id = stream.board_id order by seq limit 1) - 1, stream.last_seq)), 0)
    - (select count from deleted_events) as count
  from (select board_id, last_seq from board_stream order by board_id) stream
) before
where total.is_only = incomplete.is_only;
-- left
select from deleted_events where not is_complete
