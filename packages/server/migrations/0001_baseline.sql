-- The whole schema of version 0.1.0. Later changes are migrations of their own, see docs/upgrading.md.

create extension if not exists pg_trgm;

-- The normal form that text search compares: case-insensitive. Through upper case, because letters with two lower-case forms
-- (or one that is spelled with two letters) become equal there; by ICU, so that the locale of the server does not matter.
create function search_key(content text) returns text language sql immutable parallel safe return
  replace(lower(upper(lower(content collate "und-x-icu"))), 'ς', 'σ');

create table users (
  id uuid primary key,
  email text not null,
  -- The normal form for uniqueness and search, computed by the service.
  email_key text not null constraint users_email_taken unique,
  username text not null,
  username_key text not null constraint users_username_taken unique,
  hashed_password text not null,
  firstname text,
  lastname text,
  is_active boolean not null default true,
  is_verified boolean not null default false,
  is_superuser boolean not null default false,
  -- Tokens issued before this second are revoked, except the one that changed the password.
  tokens_valid_from timestamptz,
  surviving_token_hash text,
  profile_changed_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  -- An erased user stays as a row without a name, because boards refer to their creator.
  erased_at timestamptz
);
create index users_email_search on users using gin (email_key gin_trgm_ops);
create index users_username_search on users using gin (username_key gin_trgm_ops);
create index users_names_search on users
  using gin (search_key(normalize(coalesce(firstname, '') || ' ' || coalesce(lastname, ''), NFKC)) gin_trgm_ops);

-- Cached boards contain profiles, so every change of a profile must be noticed, by whatever statement it is made.
create function note_profile_change() returns trigger language plpgsql as $$
begin
  new.profile_changed_at := clock_timestamp();
  return new;
end
$$;
create trigger users_profile_changed before update on users for each row
  when ((old.email, old.username, old.firstname, old.lastname, old.is_active, old.is_verified, old.is_superuser)
    is distinct from (new.email, new.username, new.firstname, new.lastname, new.is_active, new.is_verified, new.is_superuser))
  execute function note_profile_change();

-- Every table below a board has board_id as the first column of its primary key, and references go through (board_id, id): a
-- row of one board can never refer to a row of another. `unique (id)` keeps ids unique over the service.

-- The board lock, the board's position, and its counters. The row outlives the board, so that an id is never used twice.
create table board_stream (
  board_id uuid constraint board_stream_id_taken primary key,
  epoch integer not null default 1,
  last_seq bigint not null default 0,
  -- Size of the board, kept under the board lock. NULL: not counted yet; the next change that needs it counts the board.
  text_bytes bigint,
  card_count bigint,
  file_bytes bigint,
  -- Leaky bucket of the log quota: its level in bytes, and when it had that level (in milliseconds).
  log_bytes bigint not null default 0,
  log_at bigint not null default 0
) with (fillfactor = 50);

-- The event log: the exact text of every message, and metadata that the text does not have.
create table board_events (
  board_id uuid not null,
  seq bigint not null,
  created_at timestamptz not null,
  type text not null,
  user_id uuid,
  subject_id uuid,
  from_id uuid,
  body text not null,
  primary key (board_id, seq)
);
-- For retention. Rows lie in the table in the order of their age.
create index board_events_by_age on board_events using brin (created_at);

create table boards (
  id uuid primary key,
  title text not null,
  description text,
  created_by uuid not null references users,
  updated_by uuid not null references users,
  created_at timestamptz not null default clock_timestamp()
);

create index boards_by_creator on boards (created_by);

create table board_members (
  board_id uuid not null references boards on delete cascade,
  user_id uuid not null references users,
  role text not null check (role in ('owner', 'member')),
  joined_at timestamptz not null default clock_timestamp(),
  primary key (board_id, user_id)
);
create index board_members_by_user on board_members (user_id, board_id);

create table columns (
  board_id uuid not null references boards on delete cascade,
  id uuid not null constraint columns_id_taken unique,
  title text not null,
  color text not null,
  is_done_column boolean not null,
  rank bigint not null check (rank between -9007199254740991 and 9007199254740991),
  primary key (board_id, id),
  -- Checked at the end of each statement, so that one statement may move several rows.
  unique (board_id, rank) deferrable initially immediate
);

create table cards (
  board_id uuid not null,
  id uuid not null constraint cards_id_taken unique,
  column_id uuid not null,
  title text not null,
  description text,
  rank bigint not null check (rank between -9007199254740991 and 9007199254740991),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The text that card search looks through. The separator keeps a term from matching across title and description.
  search_key text collate "C" not null
    generated always as (search_key(title || E'\x1f' || coalesce(description, ''))) stored,
  primary key (board_id, id),
  foreign key (board_id, column_id) references columns on delete cascade,
  unique (board_id, column_id, rank) deferrable initially immediate
);

create table card_assignees (
  board_id uuid not null,
  card_id uuid not null,
  user_id uuid not null,
  assigned_at timestamptz not null default clock_timestamp(),
  primary key (board_id, card_id, user_id),
  foreign key (board_id, card_id) references cards on delete cascade,
  foreign key (board_id, user_id) references board_members on delete cascade
);
-- Also for search: the cards of an assignee, in the order in which a search lists them.
create index card_assignees_by_user on card_assignees (board_id, user_id, card_id);

create table labels (
  board_id uuid not null references boards on delete cascade,
  id uuid not null constraint labels_id_taken unique,
  name text not null,
  color text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (board_id, id)
);

create table card_labels (
  board_id uuid not null,
  card_id uuid not null,
  label_id uuid not null,
  added_at timestamptz not null default clock_timestamp(),
  primary key (board_id, card_id, label_id),
  foreign key (board_id, card_id) references cards on delete cascade,
  foreign key (board_id, label_id) references labels on delete cascade
);
-- Also for search: the cards with a label, in the order in which a search lists them.
create index card_labels_by_label on card_labels (board_id, label_id, card_id);

create table checklists (
  board_id uuid not null,
  id uuid not null constraint checklists_id_taken unique,
  card_id uuid not null,
  title text not null,
  rank bigint not null check (rank between -9007199254740991 and 9007199254740991),
  primary key (board_id, id),
  foreign key (board_id, card_id) references cards on delete cascade,
  unique (board_id, card_id, rank) deferrable initially immediate
);

create table checklist_items (
  board_id uuid not null,
  id uuid not null constraint checklist_items_id_taken unique,
  checklist_id uuid not null,
  content text not null,
  is_done boolean not null default false,
  rank bigint not null check (rank between -9007199254740991 and 9007199254740991),
  primary key (board_id, id),
  foreign key (board_id, checklist_id) references checklists on delete cascade,
  unique (board_id, checklist_id, rank) deferrable initially immediate
);

create table item_assignees (
  board_id uuid not null,
  item_id uuid not null,
  user_id uuid not null,
  assigned_at timestamptz not null default clock_timestamp(),
  primary key (board_id, item_id, user_id),
  foreign key (board_id, item_id) references checklist_items on delete cascade,
  foreign key (board_id, user_id) references board_members on delete cascade
);
create index item_assignees_by_user on item_assignees (board_id, user_id);

create table automation_rules (
  board_id uuid not null references boards on delete cascade,
  id uuid not null constraint automation_rules_id_taken unique,
  name text not null,
  trigger_type text not null check (trigger_type in ('CARD_CREATED', 'CARD_MOVED', 'LABEL_ADDED')),
  trigger_column_id uuid,
  trigger_label_id uuid,
  action_type text not null check (action_type in ('MOVE_TO_COLUMN', 'ASSIGN_MEMBER')),
  action_column_id uuid,
  action_user_id uuid,
  is_enabled boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (board_id, id),
  foreign key (board_id, trigger_column_id) references columns on delete set null (trigger_column_id),
  foreign key (board_id, trigger_label_id) references labels on delete set null (trigger_label_id),
  foreign key (board_id, action_column_id) references columns on delete set null (action_column_id),
  foreign key (board_id, action_user_id) references board_members on delete set null (action_user_id)
);
-- For the foreign keys: deleting a column, a label or a member looks up the rules that refer to it.
create index automation_rules_by_trigger_column on automation_rules (board_id, trigger_column_id);
create index automation_rules_by_trigger_label on automation_rules (board_id, trigger_label_id);
create index automation_rules_by_action_column on automation_rules (board_id, action_column_id);
create index automation_rules_by_action_user on automation_rules (board_id, action_user_id);

-- What each rule did, or why it did nothing. A run outlives its rule and its card.
create table automation_runs (
  board_id uuid not null references boards on delete cascade,
  id uuid not null,
  rule_id uuid not null,
  rule_name text not null,
  card_id uuid not null,
  cause_seq bigint not null,
  outcome text not null,
  created_at timestamptz(3) not null,
  primary key (board_id, id)
);
-- Runs are removed with the events that caused them.
create index automation_runs_by_age on automation_runs using brin (created_at);

create table attachments (
  board_id uuid not null,
  id uuid not null constraint attachments_id_taken unique,
  card_id uuid not null,
  file_id uuid not null,
  name text not null,
  mime_type text not null,
  size bigint not null,
  -- Hash of the content, used as the ETag.
  content_hash text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (board_id, id),
  foreign key (board_id, card_id) references cards on delete cascade
);
create index attachments_by_card on attachments (board_id, card_id);

-- The bytes of files, in chunks of one size. They are written before the board is locked, so they have no foreign key.
create table file_chunks (
  board_id uuid not null,
  file_id uuid not null,
  nth integer not null,
  bytes bytea not null,
  primary key (board_id, file_id, nth)
);
-- Most files are compressed already, so PostgreSQL need not try.
alter table file_chunks alter column bytes set storage external;

-- Files without an attachment: being uploaded, left by a crash, or deleted. A background job removes them.
create table unclaimed_files (
  board_id uuid not null,
  file_id uuid not null,
  remove_after timestamptz not null,
  primary key (board_id, file_id)
);
create index unclaimed_files_by_time on unclaimed_files (remove_after);

-- Whenever an attachment is deleted, also with its card, column or board, its file is queued for removal.
create function unclaim_files() returns trigger language plpgsql as $$
begin
  insert into unclaimed_files (board_id, file_id, remove_after) select board_id, file_id, now() from gone;
  return null;
end
$$;
create trigger attachments_unclaim_files after delete on attachments
  referencing old table as gone for each statement execute function unclaim_files();

-- Responses to writes with an Idempotency-Key, kept for a day. They are found by user and key, before the board is known.
create table stored_responses (
  user_id uuid not null references users,
  key text not null,
  board_id uuid not null,
  fingerprint text not null,
  status integer not null,
  body text,
  position text,
  created_at timestamptz not null default clock_timestamp(),
  constraint stored_responses_key_taken primary key (user_id, key)
);
create index stored_responses_by_board on stored_responses (board_id);
create index stored_responses_by_age on stored_responses (created_at);

-- Leases of background jobs that one instance runs for all.
create table job_leases (
  name text primary key,
  holder uuid not null,
  held_until timestamptz not null
);

-- Audit log of administration. It holds ids and no names, because it outlives the accounts it is about.
create table admin_actions (
  id bigint generated always as identity primary key,
  at timestamptz(3) not null default clock_timestamp(),
  -- A superuser over HTTP, or the operating system account that ran the command.
  actor_id uuid references users,
  operator text,
  action text not null,
  target_id uuid references users,
  details jsonb not null default '{}',
  check ((actor_id is null) <> (operator is null))
);
create index admin_actions_by_target on admin_actions (target_id, id);

-- The audit log is append-only.
create function reject_audit_rewrite() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end
$$;
create trigger admin_actions_append_only before update or delete or truncate on admin_actions
  for each statement execute function reject_audit_rewrite();

-- Default privileges grant new tables to the role of the service. It may only read this one and insert into it.
do $$
declare
  granted regrole;
begin
  for granted in
    select distinct acl.grantee::regrole
    from pg_class, aclexplode(relacl) acl
    where pg_class.oid = 'admin_actions'::regclass and acl.grantee not in (0, relowner)
      and acl.privilege_type in ('UPDATE', 'DELETE')
  loop
    execute format('revoke update, delete on admin_actions from %s', granted);
  end loop;
end
$$;

-- Size of a text as JSON, in which a control character takes six bytes.
create function json_bytes(content text) returns bigint language sql stable parallel safe
  return coalesce(octet_length(to_json(content)::text), 0);

-- Counted size of an object: its texts, and 200 bytes for ids and field names, so that empty objects count too.
-- An object that is shown in several places, such as a label on cards, counts in each.
create function object_bytes(content text default null, more text default null) returns bigint language sql stable parallel safe
  return 200 + json_bytes(content) + json_bytes(more);

-- Counted size of a member or an assignee: at least half of the longest profile as JSON. A profile changes without a
-- change of the board, so its texts cannot be counted.
create function person_bytes() returns bigint language sql immutable parallel safe return 640;

-- Each view sums table by table and not object by object, so that a few joins count a large board.
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

-- The counters that board_stream must hold. Automation rules are bounded by number and count nothing.
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
