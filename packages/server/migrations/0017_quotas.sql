-- phase: expand
-- How much a board holds and how fast it writes its log, kept under the board's lock. NULL: not counted yet; the next change
-- that needs the numbers counts the board. The log counter is a leaky bucket: its level in bytes, and when that was (ms).
alter table board_stream
  add column text_bytes bigint,
  add column card_count bigint,
  add column file_bytes bigint,
  add column log_bytes bigint not null default 0,
  add column log_at bigint not null default 0;

-- What a text takes as JSON: a control character takes six bytes.
create function json_bytes(content text) returns bigint language sql stable parallel safe
  return coalesce(octet_length(to_json(content)::text), 0);

-- What an object counts: its texts, and 200 bytes for its ids and field names, so that empty objects count too.
-- An object that is shown in several places, such as a label on cards, counts in each.
create function object_bytes(content text default null, more text default null) returns bigint language sql stable parallel safe
  return 200 + json_bytes(content) + json_bytes(more);

-- What a member or an assignee counts: at least half of what the longest profile takes as JSON. A profile changes without a
-- change of the board, so its texts cannot be counted.
create function person_bytes() returns bigint language sql immutable parallel safe return 640;

-- Each view sums table by table, and not object by object, so that a large one is counted by a few joins.
create view item_usage as
  select item.board_id, item.id,
    object_bytes(item.content) + person_bytes() * (select count(*) from item_assignees assignee
      where assignee.board_id = item.board_id and assignee.item_id = item.id) as text_bytes
  from checklist_items item;

create view checklist_usage as
  select checklist.board_id, checklist.id,
    object_bytes(checklist.title)
    + (select coalesce(sum(object_bytes(item.content)), 0)::bigint from checklist_items item
      where item.board_id = checklist.board_id and item.checklist_id = checklist.id)
    + person_bytes() * (select count(*) from checklist_items item
      join item_assignees assignee on assignee.board_id = item.board_id and assignee.item_id = item.id
      where item.board_id = checklist.board_id and item.checklist_id = checklist.id) as text_bytes
  from checklists checklist;

create view card_usage as
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
    + files.text_bytes as text_bytes, files.file_bytes
  from cards card cross join lateral (
    select coalesce(sum(object_bytes(file.name, file.mime_type)), 0)::bigint as text_bytes,
      coalesce(sum(file.size), 0)::bigint as file_bytes
    from attachments file where file.board_id = card.board_id and file.card_id = card.id) files;

create view column_usage as
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
    + files.text_bytes as text_bytes, cards.card_count, files.file_bytes
  from columns board_column cross join lateral (
    select count(*) as card_count, coalesce(sum(object_bytes(card.title, card.description)), 0)::bigint as text_bytes
    from cards card where card.board_id = board_column.board_id and card.column_id = board_column.id) cards
  cross join lateral (
    select coalesce(sum(object_bytes(file.name, file.mime_type)), 0)::bigint as text_bytes,
      coalesce(sum(file.size), 0)::bigint as file_bytes
    from cards card join attachments file on file.board_id = card.board_id and file.card_id = card.id
    where card.board_id = board_column.board_id and card.column_id = board_column.id) files;

-- What board_stream must say. Automation rules are bounded by their number and count nothing.
create view board_usage as
  select board.id as board_id,
    object_bytes(board.title, board.description)
    + person_bytes() * (select count(*) from board_members membership where membership.board_id = board.id)
    + (select coalesce(sum(object_bytes(label.name, label.color)), 0)::bigint from labels label where label.board_id = board.id)
    + (select coalesce(sum(object_bytes(own.title, own.color)), 0)::bigint from columns own where own.board_id = board.id)
    + cards.text_bytes
    + (select coalesce(sum(object_bytes(label.name, label.color)), 0)::bigint from card_labels marked
      join labels label on label.board_id = marked.board_id and label.id = marked.label_id where marked.board_id = board.id)
    + person_bytes() * (select count(*) from card_assignees assignee where assignee.board_id = board.id)
    + (select coalesce(sum(object_bytes(checklist.title)), 0)::bigint from checklists checklist where checklist.board_id = board.id)
    + (select coalesce(sum(object_bytes(item.content)), 0)::bigint from checklist_items item where item.board_id = board.id)
    + person_bytes() * (select count(*) from item_assignees assignee where assignee.board_id = board.id)
    + files.text_bytes as text_bytes, cards.card_count, files.file_bytes
  from boards board cross join lateral (
    select count(*) as card_count, coalesce(sum(object_bytes(card.title, card.description)), 0)::bigint as text_bytes
    from cards card where card.board_id = board.id) cards
  cross join lateral (
    select coalesce(sum(object_bytes(file.name, file.mime_type)), 0)::bigint as text_bytes,
      coalesce(sum(file.size), 0)::bigint as file_bytes
    from attachments file where file.board_id = board.id) files;
