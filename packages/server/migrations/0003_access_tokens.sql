-- phase: expand
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
