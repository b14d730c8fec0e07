create table labels (
  board_id uuid not null references boards on delete cascade,
  id uuid not null constraint labels_id_taken unique,
  name text not null,
  color text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (board_id, id)
);

create table card_labels (
  board_id uuid not null,
  card_id uuid not null,
  label_id uuid not null,
  added_at timestamptz not null default clock_timestamp(),
  primary key (board_id, card_id, label_id),
  foreign key (board_id, card_id) references cards on delete cascade,
  foreign key (board_id, label_id) references labels on delete cascade
);
create index card_labels_by_label on card_labels (board_id, label_id);
