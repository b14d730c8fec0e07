-- Whatever others see of a user stands in boards that are kept ready to be sent: no change of it may go unnoticed, whoever
-- makes it.
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

-- Runs are removed with the events that caused them.
create index automation_runs_by_age on automation_runs using brin (created_at);
