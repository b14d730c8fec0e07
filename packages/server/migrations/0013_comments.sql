-- phase: expand
create table comments (
  board_id uuid not null,
  id uuid not null constraint comments_id_taken unique,
  card_id uuid not null,
  author_id uuid not null references users,
  body text not null,
  -- The users whom the text mentions, members or not.
  mention_ids uuid[] not null default '{}',
  created_at timestamptz(3) not null,
  edited_at timestamptz(3),
  primary key (board_id, id),
  foreign key (board_id, card_id) references cards on delete cascade
);
create index comments_by_card on comments (board_id, card_id, created_at, id);
-- For the export and the erasure of an account.
create index comments_by_author on comments (author_id);
create index comments_by_mention on comments using gin (mention_ids) where mention_ids <> '{}';
