-- phase: expand
alter table cards add column comment_count integer not null default 0;
