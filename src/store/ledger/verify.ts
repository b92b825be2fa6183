/** Checks the ledger: that entries balance, that the sums are theirs, and that they are what the payments give. */

import { isDeepStrictEqual } from 'node:util';
import { FIRST_ID } from '../../lib/crypto/id.ts';
import type { Posting } from '../../rules/ledger.ts';
import { entriesOf, type LedgerPayment, movementsOf } from '../../rules/ledger-entries.ts';
import type { Client, Portion } from '../projections/projection.ts';
import { readPayments, readPrices } from './derive.ts';
import { entriesOfSources, entryKey, marginsOf, sumsOf } from './entries.ts';

/** A violation for each sum of `table` that is not the one of `derived`. */
const wrongSums = (
  what: string,
  table: string,
  derived: string,
  key: string,
  values: readonly [string, string],
): string => `
  select '${what} differs from the entries: ' || concat_ws(' ', ${key}) as violation
  from ${table} s full join (${derived}) d using (${key})
  where ${values.map((value) => `coalesce(s.${value}, 0) <> coalesce(d.${value}, 0)`).join(' or ')}`;

/** The totals that the sums give, which are compared with the entries themselves. */
const TOTALS = `
  select account, grain, currency, date_trunc(grain, hour, 'UTC') as starts_at, sum(debit) as debit, sum(credit) as credit
  from ledger_sums cross join unnest(array['day', 'month']) grain group by 1, 2, 3, 4`;

export const LEDGER_VIOLATIONS = `
  (select 'A ledger entry does not balance: ' || entry_id as violation from ledger_entries e
   where (select sum(amount) from unnest(e.amounts) amount) <> 0 limit 100)
  union all
  (select 'A ledger entry belongs to no payment: ' || entry_id from ledger_entries e
   where source_id = payment_id and not exists (select from payments p where p.mid = e.mid and p.payment_id = e.source_id) limit 100)
  union all
  (select 'A ledger entry corrects one that does not exist: ' || entry_id from ledger_entries e
   where reverses is not null and not exists (select from ledger_entries r where r.entry_id = e.reverses) limit 100)
  union all
  (${wrongSums('The balance of a ledger account', 'ledger_sums', sumsOf('ledger_entries'), 'account, currency, hour, available_on', ['debit', 'credit'])} limit 100)
  union all
  (${wrongSums('The total of a ledger account', 'ledger_totals', TOTALS, 'account, grain, currency, starts_at', ['debit', 'credit'])} limit 100)
  union all
  (${wrongSums('The margin of an account', 'ledger_margins', marginsOf('ledger_entries'), 'mid, day, brand, connector, currency', ['fees', 'costs'])} limit 100)`;

const PAYMENTS_AT_A_TIME = 2000;
const NEXT_PAYMENTS = `
  select max(payment_id::text) as last from (
    select payment_id from payments where payment_id > $1::uuid order by payment_id limit ${PAYMENTS_AT_A_TIME}
  ) next`;

/** Compares the entries of all payments with those that their history gives. */
export async function verifyEntries(client: Client, folded: Portion): Promise<string[]> {
  const violations: string[] = [];
  for (let after = FIRST_ID; violations.length < 100; ) {
    const { rows } = await client.query<{ last: string | null }>(NEXT_PAYMENTS, [after]);
    const last = rows[0]?.last ?? null;
    if (last === null) break;
    violations.push(...(await verifyRange(client, folded, `payment_id > '${after}' and payment_id <= '${last}'`)));
    after = last;
  }
  return violations;
}

const isMoving = ({ amount }: Posting): boolean => amount !== 0n;

/** Compares the entries of the payments of a range, a condition on `payment_id`. */
export async function verifyRange(client: Client, folded: Pick<Portion, 'history'>, range: string): Promise<string[]> {
  const payments = await readPayments(client, `select mid, payment_id from payments where ${range}`);
  const pricesOf = await readPrices(client, payments);
  const found = await client.query<{ paymentId: string; seq: number }>(
    `select h.payment_id as "paymentId", h.seq from (${folded.history}) h where ${range}`,
  );
  const isFolded = new Set(found.rows.map(({ paymentId, seq }) => `${paymentId} ${seq}`));
  const sources = payments.map(({ paymentId }) => paymentId);
  // Early versions wrote entries of nothing.
  const moving = (await entriesOfSources(client, sources)).filter(({ postings }) => postings.some(isMoving));
  const stored = new Map(moving.map((entry) => [entryKey(entry), entry]));
  return payments
    .flatMap((payment) => {
      const violations = wrongAmounts(payment);
      for (const entry of entriesOf(payment, pricesOf(payment))) {
        const key = entryKey(entry);
        const existing = stored.get(key);
        stored.delete(key);
        if (existing ? !isDeepStrictEqual(existing, entry) : isFolded.has(`${payment.paymentId} ${entry.seq}`))
          violations.push(
            `The ledger entry ${entry.entryId} is ${existing ? 'not what' : 'missing, which'} the history gives.`,
          );
      }
      return violations;
    })
    .concat([...stored.values()].map(({ entryId }) => `The ledger entry ${entryId} comes from no history row.`));
}

/** Compares the movements of a payment with its own amounts. */
function wrongAmounts(payment: LedgerPayment): string[] {
  const movements = movementsOf(payment);
  const total = (...categories: string[]): bigint =>
    movements.reduce((sum, { category, amount }) => (categories.includes(category) ? sum + amount : sum), 0n);
  const { paymentId, captured, refunded, state, history } = payment;
  const late = payment.operations.reduce((sum, { verb, amount }) => (verb === 'late_refund' ? sum + amount : sum), 0n);
  const chargedBack = total('chargeback', 'second_chargeback') - total('chargeback_reversed');
  // A payment has one open chargeback at a time: what earlier ones took was returned.
  const last = history.findLast(({ fromState, toState }) => toState === 'CHARGEBACK' && fromState !== toState);
  const open = movements.find(({ seq }) => seq === last?.seq)?.amount ?? 0n;
  const isRight =
    total('sale', 'payout_to_payer') === captured + late &&
    total('refund') === refunded + late &&
    chargedBack === (state === 'CHARGEBACK' ? open : 0n);
  return isRight ? [] : [`The ledger entries of payment ${paymentId} differ from its amounts.`];
}
