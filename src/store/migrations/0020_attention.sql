-- What a person decides about payments on the attention list, and the chargebacks of each account. The history is locked
-- last, after it was read.

-- Sends the money of a late success back to the payer, or releases what was only reserved.
alter type operation_verb add value 'late_refund';
alter type operation_verb add value 'late_void';

create type chargeback_state as enum ('open', 'answered', 'closed');

create table chargebacks (
  mid uuid not null,
  payment_id uuid not null,
  -- Minor units of the currency of the payment.
  amount positive_amount not null,
  received_at timestamptz not null,
  -- Until when the bank accepts an answer.
  respond_by timestamptz not null,
  state chargeback_state not null default 'open',
  note text not null default '',
  changed_at timestamptz not null,
  primary key (mid, payment_id)
);
create index chargebacks_by_time on chargebacks (received_at, payment_id);

insert into chargebacks (mid, payment_id, amount, received_at, respond_by, changed_at)
select p.mid, p.payment_id, case when p.captured > p.refunded then p.captured - p.refunded else p.amount end,
  h.at, h.at + interval '14 days', h.at
from payments p join (
  select mid, payment_id, min(at) as at from history where event in ('chargedBack', 'noted chargedBack')
  group by mid, payment_id
) h using (mid, payment_id);

create table chargeback_evidence (
  mid uuid not null,
  payment_id uuid not null,
  evidence_id uuid not null,
  name text not null,
  media_type text not null,
  size_bytes integer not null,
  -- The file in base64, sealed, bound to the row.
  sealed bytea not null,
  added_by text not null,
  created_at timestamptz not null,
  primary key (mid, payment_id, evidence_id),
  foreign key (mid, payment_id) references chargebacks on delete cascade
);

-- Why an operator decided so.
alter table history add column note text;

-- A payment that has ended without success is settled by a decision of an operator only. The rows that exist satisfied
-- the stricter rule, so they are not read again.
alter table history drop constraint transitions_are_legal;
alter table history add constraint transitions_are_legal check (
  case from_state
    when to_state then true
    when 'PREPARE' then to_state in ('REDIRECT', '3DS', 'PENDING', 'SETTLED', 'DECLINED')
    when 'REDIRECT' then to_state in ('PENDING', 'SETTLED', 'DECLINED')
    when '3DS' then to_state in ('PENDING', 'SETTLED', 'DECLINED')
    when 'PENDING' then to_state in ('SETTLED', 'DECLINED', 'VOID', 'REVERSAL', 'EXPIRED')
    when 'SETTLED' then to_state in ('REFUND', 'CHARGEBACK')
    when 'DECLINED' then to_state = 'SETTLED' and event = 'acceptedLate' and actor = 'operator'
    when 'VOID' then to_state = 'SETTLED' and event = 'acceptedLate' and actor = 'operator'
    when 'REVERSAL' then to_state = 'SETTLED' and event = 'acceptedLate' and actor = 'operator'
    when 'EXPIRED' then to_state = 'SETTLED' and event = 'acceptedLate' and actor = 'operator'
    else from_state is null and to_state = 'PREPARE'
  end
) not valid;

-- Only the newest payment of an order can be accepted. The statement that opens the next attempt locks this payment, so
-- the function, which reads what is committed when it runs, finds an attempt that was opened at the same time.
create function refuse_accepting_earlier_attempt() returns trigger language plpgsql as $$
begin
  if exists (
    select from payments p join payments later on later.mid = p.mid and later.order_id = p.order_id
    where p.mid = new.mid and p.payment_id = new.payment_id and later.attempt > p.attempt
  ) then
    raise check_violation using constraint = 'newest_attempt_is_accepted', message = 'The order has a later payment.';
  end if;
  return null;
end
$$;
create trigger newest_attempt_is_accepted after insert on history
  for each row when (new.event = 'acceptedLate') execute function refuse_accepting_earlier_attempt();
