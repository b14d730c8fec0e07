-- phase: expand
-- The text of comments counts towards the quota, and that of removed columns. The view of the board comes first, as in a change that counts the board and then
-- deletes something: in the other order, both would wait for each other.
create or replace view board_usage as
  select board.id as board_id,
    object_bytes(board.title, board.description)
    + person_bytes() * (select count(*) from board_members membership where membership.board_id = board.id)
    + (select coalesce(sum(object_bytes(label.name, label.color)), 0)::bigint from labels label where label.board_id = board.id)
    + (select coalesce(sum(object_bytes(own.title, own.color)), 0)::bigint from columns own where own.board_id = board.id)
    + (select coalesce(sum(object_bytes(removed.title, removed.color)), 0)::bigint from removals removed
      where removed.board_id = board.id and removed.card_id is null)
    + cards.text_bytes
    + (select coalesce(sum(object_bytes(label.name, label.color)), 0)::bigint from card_labels marked
      join labels label on label.board_id = marked.board_id and label.id = marked.label_id where marked.board_id = board.id)
    + person_bytes() * (select count(*) from card_assignees assignee where assignee.board_id = board.id)
    + (select coalesce(sum(object_bytes(checklist.title)), 0)::bigint from checklists checklist where checklist.board_id = board.id)
    + (select coalesce(sum(object_bytes(item.content)), 0)::bigint from checklist_items item where item.board_id = board.id)
    + person_bytes() * (select count(*) from item_assignees assignee where assignee.board_id = board.id)
    + (select coalesce(sum(object_bytes(comment.body)), 0)::bigint from comments comment where comment.board_id = board.id)
    + files.text_bytes as text_bytes, cards.card_count, files.file_bytes
  from boards board cross join lateral (
    select count(*) as card_count, coalesce(sum(object_bytes(card.title, card.description)), 0)::bigint as text_bytes
    from cards card where card.board_id = board.id) cards
  cross join lateral (
    select coalesce(sum(object_bytes(file.name, file.mime_type)), 0)::bigint as text_bytes,
      coalesce(sum(file.size), 0)::bigint as file_bytes
    from attachments file where file.board_id = board.id) files;

create or replace view column_usage as
  select board_column.board_id, board_column.id,
    object_bytes(board_column.title, board_column.color) + cards.text_bytes
    + (select coalesce(sum(object_bytes(label.name, label.color)), 0)::bigint from cards card
      join card_labels marked on marked.board_id = card.board_id and marked.card_id = card.id
      join labels label on label.board_id = marked.board_id and label.id = marked.label_id
      where card.board_id = board_column.board_id and card.column_id = board_column.id)
    + person_bytes() * (select count(*) from cards card
      join card_assignees assignee on assignee.board_id = card.board_id and assignee.card_id = card.id
      where card.board_id = board_column.board_id and card.column_id = board_column.id)
    + (select coalesce(sum(object_bytes(checklist.title)), 0)::bigint from cards card
      join checklists checklist on checklist.board_id = card.board_id and checklist.card_id = card.id
      where card.board_id = board_column.board_id and card.column_id = board_column.id)
    + (select coalesce(sum(object_bytes(item.content)), 0)::bigint from cards card
      join checklists checklist on checklist.board_id = card.board_id and checklist.card_id = card.id
      join checklist_items item on item.board_id = checklist.board_id and item.checklist_id = checklist.id
      where card.board_id = board_column.board_id and card.column_id = board_column.id)
    + person_bytes() * (select count(*) from cards card
      join checklists checklist on checklist.board_id = card.board_id and checklist.card_id = card.id
      join checklist_items item on item.board_id = checklist.board_id and item.checklist_id = checklist.id
      join item_assignees assignee on assignee.board_id = item.board_id and assignee.item_id = item.id
      where card.board_id = board_column.board_id and card.column_id = board_column.id)
    + (select coalesce(sum(object_bytes(comment.body)), 0)::bigint from cards card
      join comments comment on comment.board_id = card.board_id and comment.card_id = card.id
      where card.board_id = board_column.board_id and card.column_id = board_column.id)
    + files.text_bytes as text_bytes, cards.card_count, files.file_bytes
  from columns board_column cross join lateral (
    select count(*) as card_count, coalesce(sum(object_bytes(card.title, card.description)), 0)::bigint as text_bytes
    from cards card where card.board_id = board_column.board_id and card.column_id = board_column.id) cards
  cross join lateral (
    select coalesce(sum(object_bytes(file.name, file.mime_type)), 0)::bigint as text_bytes,
      coalesce(sum(file.size), 0)::bigint as file_bytes
    from cards card join attachments file on file.board_id = card.board_id and file.card_id = card.id
    where card.board_id = board_column.board_id and card.column_id = board_column.id) files;

create or replace view card_usage as
  select card.board_id, card.id,
    object_bytes(card.title, card.description)
    + (select coalesce(sum(object_bytes(label.name, label.color)), 0)::bigint from card_labels marked
      join labels label on label.board_id = marked.board_id and label.id = marked.label_id
      where marked.board_id = card.board_id and marked.card_id = card.id)
    + person_bytes() * (select count(*) from card_assignees assignee
      where assignee.board_id = card.board_id and assignee.card_id = card.id)
    + (select coalesce(sum(checklist.text_bytes), 0)::bigint from checklists on_card
      join checklist_usage checklist on checklist.board_id = on_card.board_id and checklist.id = on_card.id
      where on_card.board_id = card.board_id and on_card.card_id = card.id)
    + (select coalesce(sum(object_bytes(comment.body)), 0)::bigint from comments comment
      where comment.board_id = card.board_id and comment.card_id = card.id)
    + files.text_bytes as text_bytes, files.file_bytes
  from cards card cross join lateral (
    select coalesce(sum(object_bytes(file.name, file.mime_type)), 0)::bigint as text_bytes,
      coalesce(sum(file.size), 0)::bigint as file_bytes
    from attachments file where file.board_id = card.board_id and file.card_id = card.id) files;
