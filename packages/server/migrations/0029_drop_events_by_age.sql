-- phase: contract, no transaction
-- needs: nothing
-- because: the same statements of every version use board_events_by_time.
drop index concurrently if exists board_events_by_age;
