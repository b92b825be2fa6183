-- The number of a card is stored while its payment is open, and for good only where it is needed again.

alter table cards
  -- An erased card has neither; so no erased card holds a data key back.
  alter column sealed drop not null,
  alter column key_version drop not null,
  -- Decided when the payment has its outcome: the merchant knows the token, or the payment can be repeated.
  add column is_kept boolean not null default false;

-- Cards that are already there are decided on in one pass. Any payment that uses a card can need it, not only the one
-- that it was typed for; cards whose payment is still open are left to the gateway.
with uses as (
  select mid, (details #>> '{card,id}')::uuid as card_id,
    bool_or(
      recurring_token is not null or details #>> '{card,token}' is not null
      or state in ('PREPARE', 'REDIRECT', '3DS', 'PENDING') and authorised = 0
    ) as is_needed
  from payments where details ? 'card' group by 1, 2
), decided as (
  select c.mid, c.card_id, coalesce(u.is_needed, false) as is_needed
  from cards c
  left join payments p on p.mid = c.mid and p.payment_id = c.payment_id
  left join uses u on u.mid = c.mid and u.card_id = c.card_id
  where p.payment_id is null or p.state not in ('PREPARE', 'REDIRECT', '3DS', 'PENDING') or p.authorised > 0
)
update cards c set
  is_kept = d.is_needed,
  sealed = case when d.is_needed then c.sealed end,
  key_version = case when d.is_needed then c.key_version end
from decided d where d.mid = c.mid and d.card_id = c.card_id;

alter table cards
  add constraint sealed_has_a_key check ((sealed is null) = (key_version is null)),
  add constraint kept_is_sealed check (sealed is not null or not is_kept);

-- What the sweep reads: the cards of open payments, and those that were left over. A kept or erased card is in it no more.
create index cards_undecided on cards (mid, payment_id) where sealed is not null and not is_kept;
