-- phase: expand
-- How many events were deleted. `last_seq` of all boards minus this is the number of events, for the statistics. One row.
create table deleted_events (
  is_only boolean primary key default true check (is_only),
  count bigint not null default 0,
  -- Whether it includes what was deleted before this table existed.
  is_complete boolean not null default false
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
