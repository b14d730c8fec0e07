-- phase: expand
-- First and last name in the normal form that search compares. Null: the user has neither.
alter table users add column name_key text;
create function set_name_key() returns trigger language plpgsql as $$
begin
  new.name_key := case when new.firstname is not null or new.lastname is not null
    then search_key(normalize(coalesce(new.firstname, '') || ' ' || coalesce(new.lastname, ''), NFKC)) end;
  return new;
end
$$;
create trigger users_name_key before insert or update of firstname, lastname on users for each row execute function set_name_key();

-- The letters of a text, alone and with the next one: finds terms that are too short for trigrams.
create function letter_pairs(content text) returns text[] language sql immutable parallel safe strict return (
  select array_agg(substr(content, nth, 2)) || string_to_array(content, null) from generate_series(1, char_length(content)) nth);
