-- phase: expand, no transaction
-- Finds the oldest events. Pages of deleted events are filled with new ones, and then a BRIN index finds almost every page.
create index concurrently if not exists board_events_by_time on board_events (created_at);
