/** Compares what the shops were told, what the gateway stored, what the provider did and what the merchants received. */
import pg from 'pg';
import { type PaymentEvent, STATES } from '../../src/rules/states.ts';
import { verifyAt } from '../../src/store/verify.ts';
import type { MerchantServer } from './merchant-server.ts';
import type { Records } from './shop.ts';
import type { Stage } from './stage.ts';

interface Movement {
  id: number;
  reference: string;
  direction: 'in' | 'out';
  amount: string;
}

interface OurPayment {
  id: string;
  order_id: string;
  brand: string;
  state: string;
  captured: string;
  refunded: string;
  attention: string | null;
}

async function movementsAt(stage: Stage): Promise<Movement[]> {
  const all: Movement[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { items, next }: { items: Movement[]; next: number | null } = await stage.provider(
      'GET',
      `/ledger?after=${after}`,
    );
    all.push(...items);
    after = next;
  }
  return all;
}

/** Every state that can follow a state without a decision of an operator. */
const FOLLOWING: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.keys(STATES).map((start) => {
    const reached = new Set<string>();
    const visit = (state: string): void => {
      const { on } = STATES[state as keyof typeof STATES] as { on: Partial<Record<PaymentEvent, string>> };
      for (const [event, next] of Object.entries(on)) {
        if (event === 'acceptedLate' || event === 'lateRefunded' || reached.has(next)) continue;
        reached.add(next);
        visit(next);
      }
    };
    visit(start);
    return [start, reached];
  }),
);

/** The tests' own test brand has no provider that could disagree. */
const WITHOUT_PROVIDER = new Set(['vcard']);

export interface Verdict {
  violations: string[];
  payments: number;
  settled: number;
  movements: number;
  callbacks: number;
  /** Payments that wait for a decision of an operator, by mark. */
  attention: Record<string, number>;
}

export async function judge(stage: Stage, records: Records, merchant: MerchantServer): Promise<Verdict> {
  const client = new pg.Client(stage.database.connection);
  await client.connect();
  const rows = async <Row>(sql: string): Promise<Row[]> => (await client.query(sql)).rows as Row[];
  const payments = await rows<OurPayment>(
    `select payment_id as id, order_id, brand, state, captured::text, refunded::text, attention from payments`,
  );
  const operations = await rows<{ id: string; payment: string; state: string }>(
    'select operation_id as id, payment_id as payment, state from operations',
  );
  const callbacks = await rows<{ payment: string; seq: number; state: string }>(
    'select payment_id as payment, seq, state from callbacks order by seq',
  );
  await client.end();
  const movements = await movementsAt(stage);
  const { violations: broken } = await verifyAt(stage.database.connection);
  const violations = [...broken, ...records.wrong, ...merchant.invalid];
  const demand = (isMet: boolean, sentence: string): void => void (isMet || violations.push(sentence));

  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  for (const [id, { orderId, states }] of records.payments) {
    const payment = byId.get(id);
    demand(payment !== undefined, `The payment ${id} was answered, but is lost.`);
    demand(payment?.order_id === orderId, `The payment ${id} was answered for the order ${orderId}.`);
    for (const [index, state] of states.entries()) {
      const next = states[index + 1] ?? payment?.state ?? '';
      const isPossible = next === state || FOLLOWING.get(state)?.has(next);
      demand(isPossible === true, `The payment ${id} was answered as ${state}, and then ${next}.`);
    }
  }

  const operationById = new Map(operations.map((operation) => [operation.id, operation]));
  for (const { operationId, paymentId, answer } of records.operations) {
    const stored = operationById.get(operationId);
    if (answer === 'accepted') {
      demand(stored?.payment === paymentId, `The operation ${operationId} of ${paymentId} was accepted, but is lost.`);
    }
    demand(stored?.state !== 'sent', `The operation ${operationId} of ${paymentId} has no outcome.`);
  }

  const moved = Map.groupBy(movements, ({ reference }) => reference);
  for (const reference of moved.keys())
    demand(byId.has(reference), `The provider moved money for ${reference}, unknown here.`);
  for (const { id, brand, state, captured, refunded, attention } of payments) {
    demand(!['PREPARE', 'REDIRECT', '3DS'].includes(state), `The payment ${id} is still ${state}.`);
    demand(attention !== 'unresolved' && attention !== 'conflict', `The payment ${id} has the mark ${attention}.`);
    if (WITHOUT_PROVIDER.has(brand)) continue;
    const balance = (moved.get(id) ?? []).reduce(
      (sum, { direction, amount }) => sum + (direction === 'in' ? BigInt(amount) : -BigInt(amount)),
      0n,
    );
    const here = BigInt(captured) - BigInt(refunded);
    // A success after the end is not booked, but shown to the operator.
    const isLate = attention === 'late_success';
    const there = balance < 0n ? -balance : balance;
    demand(isLate || here === there, `The payment ${id} (${brand}, ${state}): ${here} here, ${there} at the provider.`);
  }

  const delivered = Map.groupBy(callbacks, ({ payment }) => payment);
  for (const [id, list] of delivered) {
    const events = merchant.processed.get(id) ?? [];
    for (const { seq, state } of list) {
      demand(state === 'delivered', `The callback ${seq} of ${id} is ${state}.`);
      demand(
        events.some(({ sequence }) => sequence === seq),
        `The callback ${seq} of ${id} was not received.`,
      );
    }
    const first = new Set(events.map(({ sequence }) => sequence));
    const inOrder = [...first].every((sequence, index, all) => index === 0 || sequence > (all[index - 1] as number));
    demand(inOrder, `The callbacks of ${id} arrived in the order ${[...first].join()}.`);
  }
  for (const id of merchant.processed.keys())
    demand(delivered.has(id), `A callback of ${id} arrived that is not stored.`);
  for (const program of [...stage.gateways, stage.simulator]) violations.push(...program.crashes);

  const marks = Map.groupBy(payments, ({ attention }) => attention ?? '');
  marks.delete('');
  return {
    violations,
    payments: payments.length,
    settled: payments.filter(({ state }) => state === 'SETTLED').length,
    movements: movements.length,
    callbacks: callbacks.length,
    attention: Object.fromEntries([...marks].map(([mark, list]) => [mark, list.length])),
  };
}
