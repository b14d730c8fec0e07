create table automation_rules (
  board_id uuid not null references boards on delete cascade,
  id uuid not null constraint automation_rules_id_taken unique,
  name text not null,
  trigger_type text not null check (trigger_type in ('CARD_CREATED', 'CARD_MOVED', 'LABEL_ADDED')),
  trigger_column_id uuid,
  trigger_label_id uuid,
  action_type text not null check (action_type in ('MOVE_TO_COLUMN', 'ASSIGN_MEMBER')),
  action_column_id uuid,
  action_user_id uuid,
  is_enabled boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (board_id, id),
  foreign key (board_id, trigger_column_id) references columns on delete set null (trigger_column_id),
  foreign key (board_id, trigger_label_id) references labels on delete set null (trigger_label_id),
  foreign key (board_id, action_column_id) references columns on delete set null (action_column_id),
  foreign key (board_id, action_user_id) references board_members on delete set null (action_user_id)
);
-- What deleting a column, a label or a member must find.
create index automation_rules_by_trigger_column on automation_rules (board_id, trigger_column_id);
create index automation_rules_by_trigger_label on automation_rules (board_id, trigger_label_id);
create index automation_rules_by_action_column on automation_rules (board_id, action_column_id);
create index automation_rules_by_action_user on automation_rules (board_id, action_user_id);

-- What each rule did, or why it did nothing. A run outlives its rule and its card.
create table automation_runs (
  board_id uuid not null references boards on delete cascade,
  id uuid not null,
  rule_id uuid not null,
  rule_name text not null,
  card_id uuid not null,
  cause_seq bigint not null,
  outcome text not null,
  created_at timestamptz(3) not null,
  primary key (board_id, id)
);
