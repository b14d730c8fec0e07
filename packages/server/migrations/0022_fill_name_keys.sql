-- phase: migrate, in batches
with found as materialized (
  select id from users where name_key is null and (firstname is not null or lastname is not null)
  limit 5000 for no key update skip locked
)
update users set name_key = search_key(normalize(coalesce(firstname, '') || ' ' || coalesce(lastname, ''), NFKC))
from found where users.id = found.id;
-- left
select from users where name_key is null and (firstname is not null or lastname is not null) limit 1
