-- phase: expand
-- What had been created when a day (UTC) began: the differences are what was created on each day.
create table daily_totals (
  day date primary key,
  users bigint not null,
  boards bigint not null,
  cards bigint not null,
  events bigint not null
);
insert into daily_totals
  select (now() at time zone 'utc')::date, (select count(*) from users), count(*), coalesce(sum(last_card_number), 0), coalesce(sum(last_seq), 0)
  from board_stream;
