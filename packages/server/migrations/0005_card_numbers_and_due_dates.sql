-- phase: expand
alter table cards add column number bigint, add column due_on date;

-- Numbers the cards of instances that do not know numbers yet. They hold the board lock.
create function number_card() returns trigger language plpgsql as $$
begin
  update board_stream set last_card_number = last_card_number + 1 where board_id = new.board_id
    returning last_card_number into new.number;
  return new;
end
$$;
create trigger cards_number before insert on cards for each row when (new.number is null) execute function number_card();
