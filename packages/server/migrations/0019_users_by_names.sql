-- phase: expand, no transaction
-- Users are found by a part of their first and last names. PostgreSQL computes what is compared, as for cards.
create index concurrently if not exists users_names_search on users
  using gin (search_key(normalize(coalesce(firstname, '') || ' ' || coalesce(lastname, ''), NFKC)) gin_trgm_ops);
