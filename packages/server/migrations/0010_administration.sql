-- phase: expand
-- Whoever is erased stays as a row without a name: boards say who made them, and that must point somewhere.
alter table users add column erased_at timestamptz;

-- What was done to accounts, by whom. Names stand in no row: it outlives those whom it is about.
create table admin_actions (
  id bigint generated always as identity primary key,
  at timestamptz(3) not null default clock_timestamp(),
  -- A superuser over HTTP, or the account of the operating system that ran the command.
  actor_id uuid references users,
  operator text,
  action text not null,
  target_id uuid references users,
  details jsonb not null default '{}',
  check ((actor_id is null) <> (operator is null))
);
create index admin_actions_by_target on admin_actions (target_id, id);

-- A record that could be changed would prove nothing.
create function refuse_to_rewrite() returns trigger language plpgsql as $$
begin
  raise exception '% is only ever added to', tg_table_name;
end
$$;
create trigger admin_actions_append_only before update or delete or truncate on admin_actions
  for each statement execute function refuse_to_rewrite();

-- New tables are granted to the role of the service by default privileges. Here it may only read and add.
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
