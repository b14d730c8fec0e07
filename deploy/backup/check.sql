-- Every count must be zero.
select 'event logs with a gap, or whose end differs from the position of the board' as wrong, count(*) from board_stream stream
  join (select board_id, min(seq) as first, max(seq) as last, count(*) from board_events group by board_id) log using (board_id)
  where log.last <> stream.last_seq or log.count <> log.last - log.first + 1
union all
select 'boards without a position', count(*) from boards where id not in (select board_id from board_stream)
union all
select 'cards with the same rank in a column', count(*) from (
  select from cards group by board_id, column_id, rank having count(*) > 1) cards
union all
select 'columns with the same rank on a board', count(*) from (
  select from columns group by board_id, rank having count(*) > 1) columns
union all
select 'cards without a column', count(*) from cards where (board_id, column_id) not in (select board_id, id from columns)
union all
select 'columns without a board', count(*) from columns where board_id not in (select id from boards)
union all
select 'members without an account', count(*) from board_members where user_id not in (select id from users)
union all
select 'files without their bytes', count(*) from attachments file where size <> (
  select coalesce(sum(length(bytes)), 0) from file_chunks chunk
  where chunk.board_id = file.board_id and chunk.file_id = file.file_id)
union all
select 'boards whose usage counters are wrong', count(*) from board_stream stream join board_usage usage using (board_id)
  where stream.text_bytes is not null and (stream.text_bytes, stream.card_count, stream.file_bytes)
    is distinct from (usage.text_bytes, usage.card_count, usage.file_bytes);
