-- A chargeback has a stage and the provider's reason, and can be won: its payment then returns to its state before.
create type chargeback_stage as enum ('inquiry', 'warning', 'chargeback', 'second_chargeback');
alter type chargeback_state add value 'won';
alter type chargeback_state add value 'lost';
alter table chargebacks
  add column stage chargeback_stage not null default 'chargeback',
  -- As the provider words it.
  add column reason text not null default '',
  -- Null if the bank takes no answer.
  alter column respond_by drop not null;

-- Only a chargeback that was reversed is left again.
alter table history drop constraint if exists transitions_are_legal, add constraint transitions_are_legal check (
  from_state is not distinct from to_state
  or coalesce(from_state::text, '') || '>' || to_state::text = any ('{
    >PREPARE, PREPARE>REDIRECT, PREPARE>3DS, PREPARE>PENDING, PREPARE>SETTLED, PREPARE>DECLINED,
    REDIRECT>PENDING, REDIRECT>SETTLED, REDIRECT>DECLINED, 3DS>PENDING, 3DS>SETTLED, 3DS>DECLINED,
    PENDING>SETTLED, PENDING>DECLINED, PENDING>VOID, PENDING>REVERSAL, PENDING>EXPIRED,
    SETTLED>REFUND, SETTLED>CHARGEBACK
  }'::text[])
  or event = 'acceptedLate' and actor = 'operator' and to_state = 'SETTLED'
    and coalesce(from_state::text, '') = any ('{DECLINED, VOID, REVERSAL, EXPIRED}'::text[])
  or event = 'chargebackReversed' and coalesce(from_state::text, '') = 'CHARGEBACK'
    and to_state::text = any ('{SETTLED, REFUND}'::text[])
) not valid;
