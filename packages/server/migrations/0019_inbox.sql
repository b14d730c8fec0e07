-- phase: expand
-- What concerns a user: one row for each user and card, or board. A change writes only rows of its own board, so changes of
-- different boards do not wait for each other.
create table inbox_items (
  user_id uuid not null,
  id uuid not null,
  board_id uuid not null,
  -- The card, or the board itself.
  subject_id uuid not null,
  card_id uuid,
  reason text not null check (reason in ('mentioned', 'assigned', 'added')),
  count integer not null,
  -- Null: an automation rule.
  actor_id uuid,
  comment_id uuid,
  changed_at timestamptz(3) not null,
  read_at timestamptz(3),
  primary key (user_id, id),
  unique (user_id, board_id, subject_id),
  -- Removing a member deletes their items of the board in the same transaction.
  foreign key (board_id, user_id) references board_members on delete cascade,
  foreign key (board_id, card_id) references cards on delete cascade
);
create index inbox_items_by_time on inbox_items (user_id, changed_at, id);
create index inbox_items_unread on inbox_items (user_id, changed_at, id) where read_at is null;
-- For the foreign keys.
create index inbox_items_by_member on inbox_items (board_id, user_id);
create index inbox_items_by_card on inbox_items (board_id, card_id) where card_id is not null;
-- For retention.
create index inbox_items_by_age on inbox_items (read_at) where read_at is not null;
