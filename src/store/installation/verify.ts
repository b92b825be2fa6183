/** Checks the invariants of the whole database. */
import type pg from 'pg';
import type { AuditKey } from '../../lib/crypto/audit-chain.ts';
import { OPERATION_TYPES } from '../../rules/callbacks.ts';
import { type AuditVerification, type KnownHead, verifyAudit } from '../audit/verify.ts';
import { HAS_OUTCOME } from '../cards/cards.ts';
import { withClient } from '../database/bounded-client.ts';
import type { Connection } from '../database/database.ts';
import { FAILED_STATES } from '../payments/write.ts';
import { PROJECTIONS } from '../projections/all.ts';
import { verifyProjections } from '../projections/verify.ts';
import { SETTLEMENT_VIOLATIONS } from '../settlements/verify.ts';

interface Invariant {
  /** The message when the invariant does not hold. */
  broken: string;
  /** Selects one payment_id per violation. */
  violations: string;
}

/** A database may contain payments from before callbacks were introduced. */
const SINCE_CALLBACKS = 'h.payment_id >= (select payment_id from callbacks order by payment_id limit 1)';

/** A step in between of an account that omits their callbacks, or did so earlier: a setting that was changed is stored. */
const OMITTED_STEP = `(h.to_state in ('PREPARE', 'REDIRECT', '3DS') and exists (
    select from accounts a where a.mid = h.mid and a.settings -> 'dialect.final_callbacks_only' is not null))`;

/** The operations whose outcome the merchant gets a callback of. */
const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ');
const REPORTED_VERBS = quoted(Object.keys(OPERATION_TYPES));
const REFUSED_EVENTS = quoted(Object.keys(OPERATION_TYPES).map((verb) => `refused ${verb}`));

/** The callback type of an operation; earlier versions stored the verb itself. */
const typeOf = (verb: string): string =>
  `case ${verb} ${Object.entries(OPERATION_TYPES)
    .map(([name, type]) => `when '${name}' then '${type}'`)
    .join(' ')} end`;
/** Five minutes ago by the account's clock of a card `c`; numbers of later payments may not have been erased yet. */
const LONG_AGO = `now() - interval '5 minutes' + interval '1 ms' * (
  select coalesce(sum(o.offset_ms), 0) from clock_offsets o where o.mid is null or o.mid = c.mid)`;

/** The cards that payments need: while they are open, for a card token, for recurring sales. */
const NEEDED_CARDS = `select p.mid, p.payment_id, p.state, (p.details #>> '{card,id}')::uuid as card_id from payments p
  where p.details #> '{card,id}' is not null
    and (p.recurring_token is not null or p.details #>> '{card,token}' is not null or not ${HAS_OUTCOME})`;

const INVARIANTS: readonly Invariant[] = [
  {
    broken: 'The history is not numbered 1, 2, 3 without gaps',
    violations: `select payment_id from history group by mid, payment_id
      having min(seq) <> 1 or max(seq) <> count(*)`,
  },
  {
    broken: 'A history row does not start in the state in which the previous row ended',
    violations: `select distinct payment_id from (
        select payment_id, seq, from_state,
          lag(to_state) over (partition by mid, payment_id order by seq) as before
        from history
      ) row where from_state is distinct from before`,
  },
  {
    broken: 'The state of a payment is not that of its latest history row',
    violations: `select p.payment_id from payments p join lateral (
        select to_state from history h where h.mid = p.mid and h.payment_id = p.payment_id order by seq desc limit 1
      ) newest on p.state <> newest.to_state`,
  },
  {
    broken: 'The history_length of a payment is not the number of its history rows',
    violations: `select p.payment_id from payments p left join (
        select mid, payment_id, count(*) as rows from history group by mid, payment_id
      ) h using (mid, payment_id) where p.history_length <> coalesce(h.rows, 0)`,
  },
  {
    broken: 'A history row belongs to no payment',
    violations: `select distinct payment_id from history h
      where not exists (select from payments p where p.mid = h.mid and p.payment_id = h.payment_id)`,
  },
  {
    broken: 'Money is not conserved: 0 ≤ refunded ≤ captured ≤ authorised ≤ amount does not hold',
    violations: `select payment_id from payments
      where not (0 <= refunded and refunded <= captured and captured <= authorised and authorised <= amount)`,
  },
  {
    broken: 'The reserved amount of a payment is not the sum of its refunds in progress',
    violations: `select p.payment_id from payments p left join (
        select mid, payment_id, sum(amount) as amount from operations where verb in ('refund', 'credit') and state = 'sent'
        group by mid, payment_id
      ) o using (mid, payment_id) where p.reserved <> coalesce(o.amount, 0)`,
  },
  {
    broken: 'A payment is locked by an operation that is not in progress, or not locked by one that is',
    violations: `select p.payment_id from payments p left join operations o
        on o.mid = p.mid and o.payment_id = p.payment_id and o.state = 'sent' and o.verb not in ('refund', 'credit')
      where p.busy is distinct from o.verb`,
  },
  {
    broken: 'A change of a payment has no callback',
    violations: `select h.payment_id from history h where h.seq > 1 and ${SINCE_CALLBACKS}
        and (h.from_state <> h.to_state or h.event in ('authenticated', 'redirected', 'partlyRefunded')
          or h.event in (${REFUSED_EVENTS}))
        -- Told only if the account wants it.
        and h.event <> 'chargebackReversed'
        and not exists (
          select from callbacks c where c.mid = h.mid and c.payment_id = h.payment_id and c.seq = h.seq
        ) and not ${OMITTED_STEP}`,
  },
  {
    broken: 'A callback belongs to no event that is reported',
    violations: `select c.payment_id from callbacks c left join history h using (mid, payment_id, seq)
      where h.seq is null or h.seq = 1 or h.event in ('queried', 'doubted', 'attended', 'collected', 'held', 'stored')
        or h.event like 'requested %' or h.event like 'unanswered %'`,
  },
  {
    broken: 'A waiting callback is never due, or a callback that does not wait is due',
    violations: `select payment_id from callbacks where (state = 'waiting') <> (due_at is not null)`,
  },
  {
    broken: 'The outcome of an operation has no callback',
    violations: `select payment_id from (
        select mid, payment_id, ${typeOf('verb')} as type, count(*) as outcomes from operations h
        where state <> 'sent' and verb::text in (${REPORTED_VERBS}) and ${SINCE_CALLBACKS} group by 1, 2, 3
      ) o left join (
        select mid, payment_id, ${typeOf('type')} as type, count(*) as callbacks from callbacks group by 1, 2, 3
      ) c using (mid, payment_id, type) where outcomes > coalesce(callbacks, 0)`,
  },
  {
    broken: 'A settled payment has no captured amount, or a payment that is not settled has one',
    violations: `select payment_id from payments
      where (state in ('SETTLED', 'REFUND', 'CHARGEBACK')) <> (captured > 0)`,
  },
  {
    broken: 'An order has several payments that have not failed or been reversed',
    violations: `select min(payment_id::text) as payment_id from payments
      where state not in (${FAILED_STATES})
      group by mid, order_id having count(*) > 1`,
  },
  {
    broken: 'A payment that had failed was settled without the decision of an operator',
    violations: `select payment_id from history
      where from_state in (${FAILED_STATES}) and to_state = 'SETTLED' and (event <> 'acceptedLate' or actor <> 'operator')`,
  },
  {
    broken: 'The money of a late success was sent back, and the payment is settled',
    violations: `select p.payment_id from payments p join operations o on o.mid = p.mid and o.payment_id = p.payment_id
      where o.verb::text = 'late_refund' and o.state = 'done' and p.state not in (${FAILED_STATES})`,
  },
  {
    broken: 'A payment that was charged back is not on the list of chargebacks',
    violations: `select p.payment_id from payments p left join chargebacks c using (mid, payment_id)
      where p.state = 'CHARGEBACK' and c.payment_id is null`,
  },
  {
    broken: 'The attempts of an order are not numbered 1, 2, 3 without gaps',
    violations: `select min(payment_id::text) as payment_id from payments
      group by mid, order_id having min(attempt) <> 1 or max(attempt) <> count(*)`,
  },
  {
    broken: 'The number of a card is stored although nothing needs it',
    violations: `select c.payment_id from cards c
        left join payments p on p.mid = c.mid and p.payment_id = c.payment_id
        left join (${NEEDED_CARDS}) needed on needed.mid = c.mid and needed.card_id = c.card_id
      where c.sealed is not null and ${HAS_OUTCOME} and needed.card_id is null
        and (c.is_kept or coalesce(p.updated_at, c.created_at) < ${LONG_AGO})`,
  },
  {
    broken: 'The number of a card was erased although a payment needs it',
    violations: `select needed.payment_id from (${NEEDED_CARDS}) needed
        left join cards c on c.mid = needed.mid and c.card_id = needed.card_id
      where c.sealed is null
        -- The card of a wallet is stored right after the intent of its payment.
        and not (c.card_id is null and needed.state = 'PREPARE')`,
  },
];

export interface Verification {
  /** One message for each invariant that does not hold. */
  violations: string[];
  payments: bigint;
  historyRows: bigint;
  ledgerEntries: bigint;
  audit: AuditVerification;
}

export interface VerifyOptions {
  /** Without it, only the digests of the audit log are checked. */
  auditKey?: AuditKey | undefined;
  /** A head of the audit log that was logged or printed before. */
  knownHead?: KnownHead | undefined;
}

/** Checks everything on one snapshot, so that a running gateway does not affect the result. */
export async function verify(
  client: Pick<pg.ClientBase, 'query'>,
  { auditKey, knownHead }: VerifyOptions = {},
): Promise<Verification> {
  try {
    await client.query('begin isolation level repeatable read read only');
    // A large database takes long.
    await client.query('set local statement_timeout = 0');
    const violations: string[] = [];
    for (const { broken, violations: sql } of INVARIANTS) {
      const { rows } = await client.query<{ count: string; example: string }>(
        `select count(*)::text as count, min(payment_id::text) as example from (${sql}) violation`,
      );
      const { count, example } = rows[0] as { count: string; example: string };
      if (count !== '0') violations.push(`${broken}: payment ${example}${others(count)}.`);
    }
    const audit = await verifyAudit(client, auditKey, knownHead);
    violations.push(...audit.violations, ...(await verifyProjections(client, PROJECTIONS)));
    const settlements = await client.query<{ violation: string }>(SETTLEMENT_VIOLATIONS);
    violations.push(...settlements.rows.map(({ violation }) => violation));
    const { rows } = await client.query<Record<'payments' | 'history' | 'entries', string>>(
      `select (select count(*) from payments)::text as payments, (select count(*) from history)::text as history,
         (select count(*) from ledger_entries)::text as entries`,
    );
    const { payments, history, entries } = rows[0] as Record<'payments' | 'history' | 'entries', string>;
    return {
      violations,
      payments: BigInt(payments),
      historyRows: BigInt(history),
      ledgerEntries: BigInt(entries),
      audit,
    };
  } finally {
    await client.query('rollback').catch(() => undefined);
  }
}

const others = (count: string): string => (count === '1' ? '' : ` and ${BigInt(count) - 1n} more`);

/** Verifies the database at this address. */
export const verifyAt = (connection: Connection, options?: VerifyOptions): Promise<Verification> =>
  withClient({ ...connection, application_name: 'turnpike verify' }, (client) => verify(client, options));
