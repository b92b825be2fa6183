/** Random histories under random plans cost what an independent calculation says. */
import { expect, test } from 'vitest';
import { scaledDecimal } from '../../src/lib/money/decimal.ts';
import { exponentOf } from '../../src/rules/currencies.ts';
import { readVersion } from '../../src/rules/price-plans.ts';
import { type Assignment, feesOf, PRICE_EVENTS, type PriceEvent } from '../../src/rules/pricing.ts';
import { type Chance, chanceFrom } from '../support/chance.ts';
import {
  type OracleHistory,
  type OracleLine,
  type OraclePlan,
  type OracleVersion,
  oracleFees,
} from '../support/price-oracle.ts';

const CURRENCIES = ['EUR', 'JPY', 'KWD'];
const BRANDS = ['card', 'vcard'];
const NETWORKS = ['visa', 'mastercard'];
const CONNECTORS = ['upstream', 'stripe'];

/** A decimal with at most so many digits after the point; sometimes with more than 2^53 minor units. */
function decimal(chance: Chance, most: number, digits: number): string {
  const whole = String(chance.upTo(most) - 1);
  return digits === 0 ? whole : `${whole}.${String(chance.upTo(10 ** digits) - 1).padStart(digits, '0')}`;
}
const maybe = <Value>(chance: Chance, probability: number, make: () => Value): Value | undefined =>
  chance.oneIn(probability) ? make() : undefined;
const some = (chance: Chance, items: string[]): string[] =>
  chance.oneIn(0.3) ? items.filter(() => chance.oneIn(0.5)) : [];
const sorted = (make: () => string): [string, string] => {
  const [a, b] = [make(), make()];
  return (scaledDecimal(a, 4) as bigint) < (scaledDecimal(b, 4) as bigint) ? [a, b] : [b, a];
};

function lineOf(chance: Chance): OracleLine {
  const currency = maybe(chance, 0.7, () => chance.of(CURRENCIES));
  const price = (): string => decimal(chance, 5, exponentOf(currency as string));
  const [minimum, maximum] = sorted(() => (currency ? price() : '0'));
  const [least, most] = sorted(() => decimal(chance, 500, 2));
  return JSON.parse(
    JSON.stringify({
      event: chance.oneIn(0.5) ? 'sale' : chance.of(PRICE_EVENTS),
      brands: some(chance, BRANDS),
      networks: some(chance, NETWORKS),
      connectors: some(chance, CONNECTORS),
      currencies: currency ? [currency] : some(chance, CURRENCIES),
      min_amount: maybe(chance, 0.2, () => least),
      max_amount: maybe(chance, 0.2, () => most),
      percent: maybe(chance, 0.8, () => decimal(chance, chance.oneIn(0.05) ? 100 : 6, 4)),
      fixed: currency && maybe(chance, 0.5, price),
      minimum: currency && maybe(chance, 0.2, () => minimum),
      maximum: currency && maybe(chance, 0.2, () => maximum),
    }),
  );
}

function planOf(chance: Chance, name: string): OraclePlan {
  const versions = Array.from(
    { length: chance.upTo(3) },
    (_, index): OracleVersion => ({
      number: index + 1,
      from: index * 40 + chance.upTo(10),
      refund_policy: chance.of(['keep', 'proportional', 'full'] as const),
      tax_percent: chance.of(['0', '7.7', '19', '20']),
      lines: Array.from({ length: 4 + chance.upTo(8) }, () => lineOf(chance)),
    }),
  );
  return { name, versions };
}

function historyOf(chance: Chance): OracleHistory {
  const currency = chance.of(CURRENCIES);
  const digits = exponentOf(currency);
  const amountText = (minor: bigint): string => {
    const text = minor.toString().padStart(digits + 1, '0');
    return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  };
  const large = chance.oneIn(0.1) ? 10n ** 16n : 0n;
  const amount = BigInt(chance.upTo(60_000)) + large;
  const events: OracleHistory['events'] = [];
  let at = 0;
  const happen = (event: PriceEvent, minor: bigint): void => {
    at += chance.upTo(20);
    events.push({ event, amount: amountText(minor), at });
  };
  for (const event of ['three_ds', 'authorisation', 'decline', 'void', 'payout_to_payer'] as const)
    if (chance.oneIn(0.2)) happen(event, amount);
  if (chance.oneIn(0.9)) happen('sale', amount);
  let left = events.at(-1)?.event === 'sale' ? amount : 0n;
  while (left > 0n && chance.oneIn(0.7)) {
    const refund = chance.oneIn(0.3) ? left : 1n + ((left - 1n) * BigInt(chance.upTo(1000))) / 1000n;
    happen('refund', refund);
    left -= refund;
  }
  if (chance.oneIn(0.2)) happen('chargeback', amount);
  const plans = ['a', 'b'].map((name) => planOf(chance, name));
  const assigned = Array.from({ length: chance.upTo(3) }, (_, index) => ({
    at: index * 30 + chance.upTo(8),
    plan: chance.oneIn(0.1) ? undefined : chance.of(plans),
  }));
  const network = maybe(chance, 0.8, () => chance.of(NETWORKS));
  const facts = { brand: chance.of(BRANDS), currency, connector: chance.of(CONNECTORS), events, assigned };
  return network === undefined ? facts : { ...facts, network };
}

/** The same plan as the gateway reads it from a request. */
function assignmentOf({ at, plan }: OracleHistory['assigned'][number]): Assignment {
  const versions = (plan?.versions ?? []).map(({ number, from, ...sent }) => {
    const { value, problems } = readVersion(sent);
    if (!value) throw new Error(JSON.stringify(problems));
    return { planId: plan?.name as string, version: number, ...value, validFrom: from };
  });
  return { assignedAt: at, planId: plan?.name ?? null, versions };
}

function gatewayFees(history: OracleHistory): string[] {
  const events = history.events.map(({ event, amount, at }, index) => ({
    seq: index + 1,
    event: event as PriceEvent,
    amount: BigInt(amount.replace('.', '')),
    at,
  }));
  return feesOf(history, events, history.assigned.map(assignmentOf)).map(
    ({ event, isReturned, amount, tax, plan }) =>
      `${isReturned ? 'returned ' : ''}${event} ${amount} ${tax} by ${plan.planId} ${plan.version} ${plan.line}`,
  );
}

test('1,000 random histories under random plans', () => {
  const kinds = new Map<string, number>();
  for (let seed = 1; seed <= 1000; seed++) {
    const history = historyOf(chanceFrom(seed));
    const expected = oracleFees(history);
    expect({ seed, fees: gatewayFees(history) }).toEqual({ seed, fees: expected });
    for (const fee of expected) {
      const kind = fee.replace(/ \d.*/, '');
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  }
  // The comparison is worth something only if all kinds of fees occur.
  for (const kind of [...PRICE_EVENTS, 'returned sale']) expect([kind, kinds.get(kind) ?? 0]).not.toEqual([kind, 0]);
  expect(kinds.get('returned sale')).toBeGreaterThan(200);
});
