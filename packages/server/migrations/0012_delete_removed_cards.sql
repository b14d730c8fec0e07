-- phase: expand
-- A card without a column has no reference that leads to its board. A trigger, so that the previous release deletes them too.
create function delete_removed_cards() returns trigger language plpgsql as $$
begin
  delete from cards where board_id = old.id and column_id is null;
  return null;
end
$$;
create trigger boards_delete_removed_cards after delete on boards for each row execute function delete_removed_cards();
