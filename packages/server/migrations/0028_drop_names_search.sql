-- phase: contract, no transaction
-- needs: nothing
-- because: only searches of older versions with names=true use it, and they also work without it, slowly.
drop index concurrently if exists users_names_search;
