-- The two roles of Lockstep. Run this once, as a superuser, in the database `lockstep`, before the first migration.
-- `lockstep_migrator` owns and changes the schema. The service runs as `lockstep_app`, which reads and changes rows.
create role lockstep_migrator login;
create role lockstep_app login;

-- The service sends these with every connection; timeouts are in milliseconds. A pooler drops them, so the role has them too.
alter role lockstep_app set statement_timeout = 5000;
alter role lockstep_app set lock_timeout = 2000;
alter role lockstep_app set idle_in_transaction_session_timeout = 5000;
-- JIT compilation is for long analytical statements. It slows down the statistics.
alter role lockstep_app set jit = off;
-- Otherwise PostgreSQL plans some prepared statements again at each execution, which takes longer than executing them.
alter role lockstep_app set plan_cache_mode = force_generic_plan;

alter database lockstep owner to lockstep_migrator;
revoke all on database lockstep from public;
grant connect on database lockstep to lockstep_app;
grant usage on schema public to lockstep_app;

grant select, insert, update, delete on all tables in schema public to lockstep_app;
grant usage on all sequences in schema public to lockstep_app;
alter default privileges for role lockstep_migrator in schema public
  grant select, insert, update, delete on tables to lockstep_app;
alter default privileges for role lockstep_migrator in schema public grant usage on sequences to lockstep_app;

-- The audit log is append-only. The migration that creates it revokes the same privileges.
do $$
begin
  if to_regclass('public.admin_actions') is not null then
    revoke update, delete on public.admin_actions from lockstep_app;
  end if;
end
$$;
