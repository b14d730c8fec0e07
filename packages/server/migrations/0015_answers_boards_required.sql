-- phase: contract
-- needs: nothing
-- because: every version since 0002_boards writes the board of an answer, and 0014_answers_boards_checked read the table.
alter table stored_answers alter column board_id set not null;
alter table stored_answers drop constraint stored_answers_have_boards;
