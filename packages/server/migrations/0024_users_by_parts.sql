-- phase: expand, no transaction
-- Each column is found separately: pairs for short terms, and the trigrams of names.
create index concurrently if not exists users_by_parts on users
  using gin (letter_pairs(username_key), letter_pairs(email_key), letter_pairs(name_key), name_key gin_trgm_ops);
