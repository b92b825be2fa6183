/** The SQL that turns rows of the history into figures: which event counts what, at what time, under which brand. */
import { BRANDS, NO_BRAND_YET, NO_CONNECTOR } from '../../rules/brands.ts';

/** The figures of a payment event that are summed; amounts are minor units. */
export const FIGURES = [
  'payments',
  'settled',
  'declined',
  'chargebacks',
  'captured',
  'refunded',
  'charged_back',
  'paid_out',
] as const;

/** Brands that send money to a person: what they settle is paid out, not captured from a payer. */
export const PAYOUT_BRANDS = `(${Object.keys(BRANDS)
  .filter((brand) => BRANDS[brand]?.isPayout)
  .map((brand) => `'${brand}'`)
  .join(', ')})`;

const REFUND_EVENTS = `('refunded', 'partlyRefunded', 'noted refunded', 'noted partlyRefunded')`;

/** History rows with what the figures need of their payments; `source` selects the rows of `h`. */
export const events = (source: string, condition: string): string => `
  select h.mid, h.payment_id, h.seq, h.event, h.from_state, h.to_state, h.call, h.at, h.amount, p.brand, p.connector,
    p.currency, p.protocol, p.created_at, p.decline_reason, p.captured, p.refunded
  from ${source} join payments p on p.mid = h.mid and p.payment_id = h.payment_id
  where ${condition}`;

/** The refunds that a history row from before amounts were recorded stands for: they finished at its time. */
const FORMER_REFUND = `coalesce((
  select sum(o.amount) from operations o
  where o.mid = e.mid and o.payment_id = e.payment_id and o.verb in ('refund', 'credit') and o.state = 'done'
    and o.finished_at = e.at and not exists (
      select from history x where x.mid = e.mid and x.payment_id = e.payment_id and x.seq < e.seq and x.at = e.at
        and x.event in ${REFUND_EVENTS}
    )
), 0)::bigint`;

/** What a row of `events` means, as `i`. */
const MEANING = `
  cross join lateral (
    select e.from_state is distinct from e.to_state and e.event <> 'chargebackReversed' as entered,
      e.event in ${REFUND_EVENTS} as refund, e.brand in ${PAYOUT_BRANDS} as payout,
      case when e.event in ${REFUND_EVENTS} or e.event = 'chargebackReversed' or e.to_state = 'CHARGEBACK' then 0
        when e.to_state = 'SETTLED' and e.from_state <> 'SETTLED' then coalesce(e.amount, e.captured)
        else coalesce(e.amount, 0) end as captured
  ) i`;
const REFUNDED = `case when i.refund then coalesce(e.amount, ${FORMER_REFUND}) else 0 end`;
const CHARGED_BACK = `
  case when i.entered and e.to_state = 'CHARGEBACK' then coalesce(e.amount, e.captured - e.refunded)
    when e.event = 'chargebackReversed' then -e.amount else 0 end`;

/** The movements of money in the table `events`, as a provider's statement has them; a payout is a sale there. */
export const MOVEMENTS = `
  select e.mid, e.payment_id, e.seq, e.at, e.connector, e.currency, m.type, m.amount
  from events e ${MEANING}
  cross join lateral (values ('sale', i.captured), ('refund', ${REFUNDED}), ('chargeback', ${CHARGED_BACK})) m(type, amount)
  where m.amount > 0 and (i.refund or e.amount is not null or i.entered and e.to_state in ('SETTLED', 'CHARGEBACK'))`;

/**
 * The figures of the table `events`. A payment counts at its creation, an outcome at its own time. A Checkout payment is
 * created before the payer chooses a brand: the choice moves it, at the time of its creation, from no brand to the brand.
 */
export const DELTAS = `
  select e.at, e.mid, case when o.is_unchosen then '${NO_BRAND_YET}' else e.brand end as brand,
    case when o.is_unchosen then '${NO_CONNECTOR}' else e.connector end as connector, e.currency,
    1 as payments, 0 as settled, 0 as declined, 0 as chargebacks, 0::bigint as captured, 0::bigint as refunded,
    0::bigint as charged_back, 0::bigint as paid_out
  from events e cross join lateral (
    -- With "exists" the planner may read the whole history instead of that of each payment.
    select e.brand = '${NO_BRAND_YET}' or e.protocol = 'checkout' and (
      select true from history c where c.mid = e.mid and c.payment_id = e.payment_id
        and c.event = 'collected' and c.from_state = 'PREPARE' limit 1
    ) is not null as is_unchosen
  ) o
  where e.seq = 1
  union all
  select e.created_at, e.mid, c.brand, c.connector, e.currency, c.payments, 0, 0, 0, 0, 0, 0, 0
  from events e
  cross join lateral (values ('${NO_BRAND_YET}', '${NO_CONNECTOR}', -1), (e.brand, e.connector, 1)) c(brand, connector, payments)
  where e.event = 'collected' and e.from_state = 'PREPARE'
  union all
  select e.at, e.mid, e.brand, e.connector, e.currency, 0,
    (i.entered and e.to_state = 'SETTLED')::int, (i.entered and e.to_state = 'DECLINED')::int,
    (i.entered and e.to_state = 'CHARGEBACK' and e.event <> 'secondChargedBack')::int,
    case when i.payout then 0 else i.captured end,
    ${REFUNDED},
    ${CHARGED_BACK},
    case when i.payout then i.captured else 0 end
  from events e ${MEANING}
  where i.refund or e.amount is not null or i.entered and e.to_state in ('SETTLED', 'DECLINED', 'CHARGEBACK')`;

/**
 * The declines of the table `events`; a provider may send a text of any length. A payment that an operator accepted
 * afterwards no longer has its reason.
 */
export const DECLINES = `
  select at, mid, left(coalesce(decline_reason, 'Accepted afterwards'), 200) as reason, 1 as declined from events
  where to_state = 'DECLINED' and from_state <> 'DECLINED'`;

/** The declines among history rows, with the class of each; only the payment has it. `source` selects the rows of `h`. */
export const declinesOf = (source: string, condition: string): string => `
  select h.at, h.mid, p.brand, p.connector, p.currency,
    coalesce(p.provider_data #>> '{decline,class}', 'other') as decline_class, 1 as declined
  from ${source} join payments p on p.mid = h.mid and p.payment_id = h.payment_id
  where h.to_state = 'DECLINED' and h.from_state <> 'DECLINED' and ${condition}`;

/** The declines of the table `events`, which are those of `declinesOf`. */
export const DECLINE_CLASSES = 'select * from events';

/** The calls of the table `events`, without those that were not sent. `bounds` is an SQL expression of type int[]. */
export const calls = (bounds: string): string => `
  select at, mid, call ->> 'connector' as connector, width_bucket((call ->> 'tookMs')::int, ${bounds}) as bucket,
    1 as calls, (call ->> 'outcome' = 'no answer')::int as unanswered
  from events
  where call is not null and call ->> 'verb' <> 'notification' and call ->> 'outcome' not in ('not sent', 'cannot be asked')`;

/** The deliveries of the table `attempts`. */
export const DELIVERIES = `
  select at, mid, coalesce(status between 200 and 299, false)::int as delivered,
    (not coalesce(status between 200 and 299, false))::int as failed
  from attempts`;
