create table checklists (
  board_id uuid not null,
  id uuid not null constraint checklists_id_taken unique,
  card_id uuid not null,
  title text not null,
  rank bigint not null check (rank between -9007199254740991 and 9007199254740991),
  primary key (board_id, id),
  foreign key (board_id, card_id) references cards on delete cascade,
  unique (board_id, card_id, rank) deferrable initially immediate
);

create table checklist_items (
  board_id uuid not null,
  id uuid not null constraint checklist_items_id_taken unique,
  checklist_id uuid not null,
  content text not null,
  is_done boolean not null default false,
  rank bigint not null check (rank between -9007199254740991 and 9007199254740991),
  primary key (board_id, id),
  foreign key (board_id, checklist_id) references checklists on delete cascade,
  unique (board_id, checklist_id, rank) deferrable initially immediate
);

create table item_assignees (
  board_id uuid not null,
  item_id uuid not null,
  user_id uuid not null,
  assigned_at timestamptz not null default clock_timestamp(),
  primary key (board_id, item_id, user_id),
  foreign key (board_id, item_id) references checklist_items on delete cascade,
  foreign key (board_id, user_id) references board_members on delete cascade
);
create index item_assignees_by_user on item_assignees (board_id, user_id);
