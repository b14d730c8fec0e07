-- Text as searches compare it: without case. By way of upper case, because letters that have two lower cases, or one that
-- is spelled with two letters, come together there; by ICU, so that the locale of the server does not matter.
create function search_key(content text) returns text language sql immutable parallel safe return
  replace(lower(upper(lower(content collate "und-x-icu"))), 'ς', 'σ');

-- What a search looks through. PostgreSQL keeps it, so that no statement can forget to; the separator keeps a term from
-- matching the end of the title and the beginning of the description together.
alter table cards add column search_key text collate "C" not null
  generated always as (search_key(title || E'\x1f' || coalesce(description, ''))) stored;

-- The cards under a label, and those of an assignee, in the order in which a search lists them.
drop index card_labels_by_label;
create index card_labels_by_label on card_labels (board_id, label_id, card_id);
drop index card_assignees_by_user;
create index card_assignees_by_user on card_assignees (board_id, user_id, card_id);
