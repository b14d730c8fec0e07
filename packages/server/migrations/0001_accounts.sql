create extension if not exists pg_trgm;

create table users (
  id uuid primary key,
  email text not null,
  -- The normal form that uniqueness and search rest on, computed by the service in one place.
  email_key text not null constraint users_email_taken unique,
  username text not null,
  username_key text not null constraint users_username_taken unique,
  hashed_password text not null,
  firstname text,
  lastname text,
  is_active boolean not null default true,
  is_verified boolean not null default false,
  is_superuser boolean not null default false,
  -- Tokens issued before this second are refused, but for the one that changed the password.
  tokens_valid_from timestamptz,
  surviving_token_hash text,
  profile_changed_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp()
);
create index users_email_search on users using gin (email_key gin_trgm_ops);
create index users_username_search on users using gin (username_key gin_trgm_ops);
