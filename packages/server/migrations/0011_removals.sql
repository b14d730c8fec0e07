-- phase: expand
-- Cards and columns that were archived or deleted. Such a card keeps its row, with everything that refers to it. A column does
-- not: its fields are here.
create table removals (
  board_id uuid not null references boards on delete cascade,
  id uuid not null,
  -- The id again if it is a card; null: it is a column.
  card_id uuid,
  removed_as text not null check (removed_as in ('archived', 'deleted')),
  removed_at timestamptz(3) not null,
  removed_by uuid,
  -- The column that the card was in, and whether it left together with that column.
  column_id uuid,
  with_column_id uuid,
  title text,
  color text,
  is_done_column boolean,
  rank bigint,
  primary key (board_id, id),
  foreign key (board_id, card_id) references cards on delete cascade,
  check (card_id = id or (card_id is null and title is not null))
);
create index removals_by_time on removals (board_id, removed_at, id);
create index removals_by_column on removals (board_id, with_column_id) where with_column_id is not null;
create index removals_by_card on removals (board_id, card_id) where card_id is not null;
create index removals_to_purge on removals (removed_at) where removed_as = 'deleted';
