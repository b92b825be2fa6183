/** Compares what the shops were told, what the gateway stored, what the provider did and what the merchants received. */
import pg from 'pg';
import { type PaymentEvent, STATES } from '../../src/rules/states.ts';
import { verifyAt } from '../../src/store/installation/verify.ts';
import {
  callbackDisagreements,
  LEDGER_PAYMENTS,
  type LedgerPayment,
  ledgerDisagreements,
  readLedger,
  STORED_CALLBACKS,
  type StoredCallback,
} from '../support/agreement.ts';
import type { MerchantServer } from './merchant-server.ts';
import type { Records } from './shop.ts';
import type { Stage } from './stage.ts';

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
  const payments = await rows<LedgerPayment>(LEDGER_PAYMENTS);
  const operations = await rows<{ id: string; payment: string; state: string }>(
    'select operation_id as id, payment_id as payment, state from operations',
  );
  const callbacks = await rows<StoredCallback>(STORED_CALLBACKS);
  await client.end();
  const movements = await readLedger((path) => stage.provider('GET', path));
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

  violations.push(...ledgerDisagreements(payments, movements));
  violations.push(...callbackDisagreements(callbacks, merchant.processed));
  const announced = new Set(callbacks.map(({ payment }) => payment));
  for (const id of merchant.processed.keys())
    demand(announced.has(id), `A callback of ${id} arrived that is not stored.`);
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
