-- Old events are found by their age; they lie in the table in the order in which they came.
create index board_events_by_age on board_events using brin (created_at);

-- Work that one instance does for all: who does it, and until when nobody else need try.
create table chores (
  name text primary key,
  holder uuid not null,
  held_until timestamptz not null
);
