-- The schema in one file: an empty database becomes one of this version. Later changes are migrations of their own, see docs/upgrading.md.

-- Text
-- ====

create extension if not exists pg_trgm;

-- The normal form that text search compares: case-insensitive. Through upper case, because letters with two lower-case forms
-- (or one that is spelled with two letters) become equal there; by ICU, so that the locale of the server does not matter.
create function search_key(content text) returns text language sql immutable parallel safe return
  replace(lower(upper(lower(content collate "und-x-icu"))), 'ς', 'σ');

-- The letters of a text, alone and with the next one: finds terms that are too short for trigrams.
create function letter_pairs(content text) returns text[] language sql immutable parallel safe strict return (
  select array_agg(substr(content, nth, 2)) || string_to_array(content, null) from generate_series(1, char_length(content)) nth);

-- Users
-- =====

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
  erased_at timestamptz,
  -- First and last name in the normal form that search compares. Null: the user has neither.
  name_key text
);

create index users_email_search on users using gin (email_key gin_trgm_ops);
create index users_username_search on users using gin (username_key gin_trgm_ops);
-- A search reads users in the order of their usernames from this index alone, without the table.
create index users_in_order on users (username_key) include (email_key, name_key, is_active);
-- Each column is found separately: pairs for short terms, and the trigrams of names.
create index users_by_parts on users
  using gin (letter_pairs(username_key), letter_pairs(email_key), letter_pairs(name_key), name_key gin_trgm_ops);

create function set_name_key() returns trigger language plpgsql as $$
begin
  new.name_key := case when new.firstname is not null or new.lastname is not null
    then search_key(normalize(coalesce(new.firstname, '') || ' ' || coalesce(new.lastname, ''), NFKC)) end;
  return new;
end
$$;
create trigger users_name_key before insert or update of firstname, lastname on users for each row execute function set_name_key();

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

-- Links that operators make for users who forgot their password: one for each user, a newer one replaces it.
create table password_reset_links (
  user_id uuid primary key references users,
  token_hash text not null constraint password_reset_links_token_taken unique,
  -- The superuser who made it. Null for the command line.
  created_by uuid references users,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index password_reset_links_by_expiry on password_reset_links (expires_at);

-- A link ends with the password that it was made for, by whatever statement the password changes.
create function delete_password_reset_link() returns trigger language plpgsql as $$
begin
  delete from password_reset_links where user_id = new.id;
  return null;
end
$$;
create trigger users_password_changed after update of hashed_password on users for each row
  when (old.hashed_password is distinct from new.hashed_password)
  execute function delete_password_reset_link();

-- Boards and members
-- ==================

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
  log_at bigint not null default 0,
  -- The number of the newest card of the board.
  last_card_number bigint not null default 0,
  -- Beside the board lock, because every access check reads this row. Null: the board is not archived.
  archived_at timestamptz(3)
) with (fillfactor = 50);

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

-- Columns, cards, labels and checklists
-- =====================================

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
  -- Null: the card was archived or deleted. Then it is in no list, and `removals` has the column it was in.
  column_id uuid,
  title text not null,
  description text,
  rank bigint not null check (rank between -9007199254740991 and 9007199254740991),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The text that card search looks through. The separator keeps a term from matching across title and description.
  search_key text collate "C" not null
    generated always as (search_key(title || E'\x1f' || coalesce(description, ''))) stored,
  -- Counts up on the board, and is never used again.
  number bigint not null,
  due_on date,
  comment_count integer not null default 0,
  primary key (board_id, id),
  foreign key (board_id, column_id) references columns on delete cascade,
  unique (board_id, column_id, rank) deferrable initially immediate
);

-- A card without a column has no reference that leads to its board.
create function delete_removed_cards() returns trigger language plpgsql as $$
begin
  delete from cards where board_id = old.id and column_id is null;
  return null;
end
$$;
create trigger boards_delete_removed_cards after delete on boards for each row execute function delete_removed_cards();

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

-- Archive and trash
-- =================

-- Cards and columns that were archived or deleted. Such a card keeps its row, with everything that refers to it. A column does
-- not: its fields are here.
create table removals (
  board_id uuid not null references boards on delete cascade,
  id uuid not null,
  -- The id again if it is a card; null: it is a column.
  card_id uuid,
  removed_as text not null check (removed_as in ('archived', 'deleted')),
  removed_at timestamptz(3) not null,
  removed_by uuid,
  -- The column that the card was in, and whether it left together with that column.
  column_id uuid,
  with_column_id uuid,
  title text,
  color text,
  is_done_column boolean,
  rank bigint,
  primary key (board_id, id),
  foreign key (board_id, card_id) references cards on delete cascade,
  check (card_id = id or (card_id is null and title is not null))
);
create index removals_by_time on removals (board_id, removed_at, id);
create index removals_by_column on removals (board_id, with_column_id) where with_column_id is not null;
create index removals_by_card on removals (board_id, card_id) where card_id is not null;
create index removals_to_purge on removals (removed_at) where removed_as = 'deleted';

-- Comments
-- ========

create table comments (
  board_id uuid not null,
  id uuid not null constraint comments_id_taken unique,
  card_id uuid not null,
  author_id uuid not null references users,
  body text not null,
  -- The users whom the text mentions, members or not.
  mention_ids uuid[] not null default '{}',
  created_at timestamptz(3) not null,
  edited_at timestamptz(3),
  primary key (board_id, id),
  foreign key (board_id, card_id) references cards on delete cascade
);
create index comments_by_card on comments (board_id, card_id, created_at, id);
-- For the export and the erasure of an account.
create index comments_by_author on comments (author_id);
create index comments_by_mention on comments using gin (mention_ids) where mention_ids <> '{}';

-- Automation rules
-- ================

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

-- Files
-- =====

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

-- Events
-- ======

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
  -- The card to whose history the event belongs. Null for a card that was only re-spaced, and for what is not about a card.
  card_id uuid,
  primary key (board_id, seq)
);

-- For retention. With B-tree: pages of deleted events are filled with new ones, and then a BRIN index finds almost every page.
create index board_events_by_time on board_events (created_at);
-- For the history of a card. Without it, that reads the whole log of its board: 70 ms for 50,000 events.
create index board_events_by_card on board_events (board_id, card_id, seq) where card_id is not null;
-- For the erasure of an account: the events that can be the last to name a former member.
create index board_events_with_names on board_events (created_at, board_id, seq)
  where type like 'comment.%' or type = 'board.member_removed';

-- How many events were deleted. `last_seq` of all boards minus this is the number of events, for the statistics. One row.
create table deleted_events (
  is_only boolean primary key default true check (is_only),
  count bigint not null default 0
);
insert into deleted_events default values;

create function count_deleted_events() returns trigger language plpgsql as $$
begin
  update deleted_events set count = count + (select count(*) from deleted) where exists (select from deleted);
  return null;
end
$$;
create trigger board_events_deleted after delete on board_events
  referencing old table as deleted for each statement execute function count_deleted_events();

-- Responses to retries
-- ====================

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

-- Inbox
-- =====

-- What concerns a user: one row for each user and card, or board. A change writes only rows of its own board, so changes of
-- different boards do not wait for each other.
create table inbox_items (
  user_id uuid not null,
  id uuid not null,
  board_id uuid not null,
  -- The card, or the board itself.
  subject_id uuid not null,
  card_id uuid,
  reason text not null check (reason in ('mentioned', 'assigned', 'added')),
  count integer not null,
  -- Null: an automation rule.
  actor_id uuid,
  comment_id uuid,
  changed_at timestamptz(3) not null,
  read_at timestamptz(3),
  primary key (user_id, id),
  unique (user_id, board_id, subject_id),
  -- Removing a member deletes their items of the board in the same transaction.
  foreign key (board_id, user_id) references board_members on delete cascade,
  foreign key (board_id, card_id) references cards on delete cascade
);
create index inbox_items_by_time on inbox_items (user_id, changed_at, id);
create index inbox_items_unread on inbox_items (user_id, changed_at, id) where read_at is null;
-- For the foreign keys.
create index inbox_items_by_member on inbox_items (board_id, user_id);
create index inbox_items_by_card on inbox_items (board_id, card_id) where card_id is not null;
-- For retention.
create index inbox_items_by_age on inbox_items (read_at) where read_at is not null;

-- Webhooks
-- ========

-- A receiver of a board's events, and its position in the log. Without a foreign key to the board, because the deletion of the
-- board is still to be sent.
create table webhooks (
  board_id uuid not null,
  id uuid not null,
  name text not null,
  url text not null,
  -- Null: all.
  kinds text[],
  is_enabled boolean not null,
  -- Encrypted.
  secret bytea not null,
  old_secret bytea,
  old_secret_until timestamptz(3),
  created_by uuid not null references users,
  -- The access token that created it. Nothing is sent once that is invalid.
  token_id uuid,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- Every event up to this position was accepted, or is of another kind.
  epoch integer not null,
  seq bigint not null,
  failed_attempts integer not null default 0,
  failing_since timestamptz(3),
  next_attempt_at timestamptz(3) not null default clock_timestamp(),
  paused_reason text check (paused_reason in ('failing', 'gone')),
  last_delivered_at timestamptz(3),
  is_slow boolean not null default false,
  -- The lease of the instance that sends: each write of the sender names the fencing number, and increments it.
  held_until timestamptz,
  fence bigint not null default 0,
  primary key (board_id, id)
) with (fillfactor = 50);
create index webhooks_due on webhooks (next_attempt_at) where is_enabled and paused_reason is null;
create index webhooks_by_creator on webhooks (created_by);

-- The delivery log. Rows of deleted webhooks are removed with age.
create table webhook_deliveries (
  board_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  attempted_at timestamptz(3) not null default clock_timestamp(),
  type text not null,
  epoch integer,
  seq bigint,
  attempt integer not null,
  is_accepted boolean not null,
  status integer,
  error text,
  duration_ms integer,
  response text,
  primary key (board_id, webhook_id, id)
);
create index webhook_deliveries_by_age on webhook_deliveries using brin (attempted_at);

-- Access tokens and invitations
-- =============================

-- Access tokens of users. A revoked token is deleted; the audit log remembers it.
create table access_tokens (
  id uuid primary key,
  user_id uuid not null references users,
  -- The only board that the token gives access to; null: all boards of the user.
  board_id uuid,
  name text not null,
  scope text not null check (scope in ('read', 'write', 'admin')),
  -- SHA-256 of the token. It has 178 random bits, so a slow hash would add nothing.
  hash bytea not null constraint access_tokens_hash_taken unique,
  hint text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  -- A token of a board is deleted with the membership of its user.
  constraint access_tokens_member foreign key (board_id, user_id) references board_members on delete cascade
);
create index access_tokens_by_user on access_tokens (user_id);
create index access_tokens_by_board on access_tokens (board_id, user_id);
create index access_tokens_by_expiry on access_tokens (expires_at);

-- Links that let a person join a board, or create an account while registration is closed. Only a hash of the secret is stored.
create table invitations (
  id uuid primary key,
  token_hash text not null constraint invitations_token_taken unique,
  -- Null for an invitation to the service, which only operators make.
  board_id uuid,
  role text check (role in ('owner', 'member')),
  -- The owner of the board, or a superuser. Null for the command line.
  invited_by uuid references users,
  -- If set, only an account with this address can use the invitation.
  email text,
  email_key text,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- The account that was created with it. From then on, no other account can accept it.
  claimed_by uuid references users,
  accepted_at timestamptz,
  -- An invitation ends when the inviter leaves the board, and with the board.
  constraint invitations_inviter_left foreign key (board_id, invited_by) references board_members on delete cascade,
  check ((board_id is null) = (role is null)),
  check (board_id is null or invited_by is not null),
  check ((email is null) = (email_key is null))
);
create index invitations_by_board on invitations (board_id, invited_by);
create index invitations_by_inviter on invitations (invited_by);
create index invitations_by_account on invitations (claimed_by);
create index invitations_by_email on invitations (email_key);
create index invitations_by_expiry on invitations (expires_at);

-- Background jobs and administration
-- ==================================

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

-- What had been created when a day (UTC) began: the differences are what was created on each day.
create table daily_totals (
  day date primary key,
  users bigint not null,
  boards bigint not null,
  cards bigint not null,
  events bigint not null
);
insert into daily_totals values ((now() at time zone 'utc')::date, 0, 0, 0, 0);

-- Quotas
-- ======

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
    + (select coalesce(sum(object_bytes(comment.body)), 0)::bigint from comments comment
      where comment.board_id = card.board_id and comment.card_id = card.id)
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

-- The counters that board_stream must hold. Automation rules are bounded by number and count nothing.
create view board_usage as
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
