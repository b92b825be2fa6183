-- PostgreSQL reads the text of a constraint at the start of each statement, but that of a function once in a session.
create function is_legal_transition(from_state payment_state, to_state payment_state, event text, actor actor)
returns boolean language plpgsql immutable parallel safe as $$
begin
  return from_state is not distinct from to_state or case
    when from_state is null then to_state = 'PREPARE'
    when from_state = 'PREPARE' then to_state in ('REDIRECT', '3DS', 'PENDING', 'SETTLED', 'DECLINED')
    when from_state in ('REDIRECT', '3DS') then to_state in ('PENDING', 'SETTLED', 'DECLINED')
    when from_state = 'PENDING' then to_state in ('SETTLED', 'DECLINED', 'VOID', 'REVERSAL', 'EXPIRED')
    when from_state = 'SETTLED' then to_state in ('REFUND', 'CHARGEBACK')
    when from_state = 'CHARGEBACK' then event = 'chargebackReversed' and to_state in ('SETTLED', 'REFUND')
    when from_state in ('DECLINED', 'VOID', 'REVERSAL', 'EXPIRED')
      then event = 'acceptedLate' and actor = 'operator' and to_state = 'SETTLED'
    else false
  end;
end $$;

alter table history drop constraint if exists transitions_are_legal, add constraint transitions_are_legal
  check (is_legal_transition(from_state, to_state, event, actor)) not valid;
