-- phase: expand
-- The card to whose history an event belongs.
alter table board_events add column card_id uuid;

-- Finds it in events of instances that do not write it. A card that was only re-spaced has no user and stays in its column;
-- re-spaced checklists and items have no user either. Null also for an item of a checklist that no longer exists.
create function card_of_event(event board_events) returns uuid language sql stable return case
  when event.user_id is null and (event.type in ('checklist.moved', 'checklist_item.moved')
    or event.type = 'card.moved' and event.from_id = (event.body::json -> 'data' ->> 'column_id')::uuid) then null
  when event.type like 'card.%' then (event.body::json -> 'data' ->> 'id')::uuid
  when event.type like 'checklist.%' or event.type like 'attachment.%' then (event.body::json -> 'data' ->> 'card_id')::uuid
  when event.type like 'checklist\_item.%' then (select checklist.card_id from checklists checklist
    where checklist.board_id = event.board_id and checklist.id = (event.body::json -> 'data' ->> 'checklist_id')::uuid)
end;
create function set_card_of_event() returns trigger language plpgsql as $$
begin
  new.card_id := card_of_event(new);
  return new;
end
$$;
create trigger board_events_card before insert on board_events for each row
  when (new.card_id is null and new.type similar to '(card|checklist|checklist\_item|attachment).%')
  execute function set_card_of_event();
