-- Every board-scoped table carries board_id and leads its primary key with it; references go through (board_id, id), so
-- that a row of one board can never point to a row of another. `unique (id)` beside it keeps ids unique over the service.

-- The board's lock, its place in history, and the memory that its id was used: it outlives the board.
create table board_stream (
  board_id uuid constraint board_stream_id_taken primary key,
  epoch integer not null default 1,
  last_seq bigint not null default 0
) with (fillfactor = 50);

-- The log: the exact text of every message, and beside it what the text does not say.
create table board_events (
  board_id uuid not null,
  seq bigint not null,
  created_at timestamptz not null,
  type text not null,
  user_id uuid,
  subject_id uuid,
  from_id uuid,
  cause_seq bigint,
  body text not null,
  primary key (board_id, seq)
);

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
  -- Checked at the end of each statement, so that one statement may re-space a neighbourhood.
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
create index card_assignees_by_user on card_assignees (board_id, user_id);

-- Answers to writes that carried an Idempotency-Key. Found by user and key before the board is known.
create table stored_answers (
  user_id uuid not null references users,
  key text not null,
  board_id uuid,
  fingerprint text not null,
  status integer not null,
  body text,
  position text,
  created_at timestamptz not null default clock_timestamp(),
  constraint stored_answers_key_taken primary key (user_id, key)
);
create index stored_answers_by_board on stored_answers (board_id);
