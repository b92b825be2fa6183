-- The newest attempt of an order that claimed a use. A later one, which was opened and has not claimed one yet, holds none.
-- Null in rows of before: all attempts of the order hold one then.
alter table begun_orders add column claimed_attempt integer;

-- A payment that an operator accepts late needs a use, too. The function waits for the lock that claims take, and then reads
-- what they committed. A link that was ended still takes what was paid for it, a void invoice does not.
create function refuse_accepting_used_up_offer() returns trigger language plpgsql as $$
declare
  source uuid;
  own_order text;
  uses_of_link integer;
  void_since timestamptz;
begin
  select b.source_id, b.order_id into source, own_order
  from payments p join begun_orders b on b.mid = p.mid and b.order_id = p.order_id
  where p.mid = new.mid and p.payment_id = new.payment_id;
  if not found then
    return null;
  end if;
  select l.uses into uses_of_link from links l where l.mid = new.mid and l.link_id = source for update;
  if not found then
    select 1, i.voided_at into uses_of_link, void_since from invoices i
    where i.mid = new.mid and i.invoice_id = source for update;
  end if;
  if void_since is not null or uses_of_link <= (
    select count(*) from begun_orders b
    where b.mid = new.mid and b.source_id = source and b.claimed_at is not null and b.order_id <> own_order
      and exists (
        select from payments p
        where p.mid = b.mid and p.order_id = b.order_id and p.state not in ('DECLINED', 'VOID', 'REVERSAL', 'EXPIRED')
          and p.attempt <= coalesce(b.claimed_attempt, p.attempt)
      )
  ) then
    raise check_violation using constraint = 'accepted_payment_has_a_use', message = 'Another payment has the use.';
  end if;
  return null;
end
$$;
create trigger accepted_payment_has_a_use after insert on history
  for each row when (new.event = 'acceptedLate') execute function refuse_accepting_used_up_offer();
