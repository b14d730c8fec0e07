-- phase: migrate, in batches
-- An answer that belongs to no board, put there by hand or by an import, cannot be asked for on any.
delete from stored_answers where ctid = any (array(
  select ctid from stored_answers where board_id is null limit 1000 for update skip locked));
-- left
select from stored_answers where board_id is null limit 1;
