create table attachments (
  board_id uuid not null,
  id uuid not null constraint attachments_id_taken unique,
  card_id uuid not null,
  file_id uuid not null,
  name text not null,
  mime_type text not null,
  size bigint not null,
  -- Names the content: the file's ETag.
  content_hash text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (board_id, id),
  foreign key (board_id, card_id) references cards on delete cascade
);
create index attachments_by_card on attachments (board_id, card_id);

-- The bytes of files, in pieces of one size. They come before the board is locked, so they refer to nothing.
create table file_chunks (
  board_id uuid not null,
  file_id uuid not null,
  nth integer not null,
  bytes bytea not null,
  primary key (board_id, file_id, nth)
);
-- Most files are compressed already.
alter table file_chunks alter column bytes set storage external;

-- Files that belong to no attachment: being taken in, left by a crash, or by a deletion. What is to be swept.
create table unclaimed_files (
  board_id uuid not null,
  file_id uuid not null,
  remove_after timestamptz not null,
  primary key (board_id, file_id)
);
create index unclaimed_files_by_time on unclaimed_files (remove_after);

-- However an attachment goes, with its card, its column or its board: its file is not forgotten.
create function unclaim_files() returns trigger language plpgsql as $$
begin
  insert into unclaimed_files (board_id, file_id, remove_after) select board_id, file_id, now() from gone;
  return null;
end
$$;
create trigger attachments_unclaim_files after delete on attachments
  referencing old table as gone for each statement execute function unclaim_files();
