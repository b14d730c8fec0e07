-- phase: contract
-- needs: nothing
-- because: no version has ever written or read the column; which event set off a rule is in automation_runs.
alter table board_events drop column cause_seq;
