-- phase: expand
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
