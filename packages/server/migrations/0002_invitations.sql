-- phase: expand

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
