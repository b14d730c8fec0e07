-- phase: expand, no transaction
-- For the erasure of an account: the events that can be the last to name a former member.
create index concurrently if not exists board_events_with_names on board_events (created_at, board_id, seq)
  where type like 'comment.%' or type = 'board.member_removed';
