-- phase: expand, no transaction
-- A search reads users in the order of their usernames from this index alone, without the table.
create index concurrently if not exists users_in_order on users (username_key) include (email_key, name_key, is_active);
