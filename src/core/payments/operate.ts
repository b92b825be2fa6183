/** What is done to a payment after it was made: the intent is reserved, the provider called, the outcome written. */
import type { OperationOutcome, Operation as ProviderOperation } from '../../connectors/connector.ts';
import { isItemFault } from '../../lib/faults.ts';
import { newId } from '../../lib/id.ts';
import { LIMITS } from '../../rules/limits.ts';
import { nextState, type PaymentEvent } from '../../rules/states.ts';
import type {
  Actor,
  CallRecord,
  Changes,
  Move,
  OperationRow,
  OperationVerb,
  Payment,
  WholePayment,
} from '../../store/payments.ts';
import type { Gateway } from '../context.ts';
import { isLateSuccess, nextPause, withHistory, write } from './advance.ts';
import { type ChosenId, repeatedOperation } from './chosen.ts';

/** What an operation shall do; made by somebody who has looked whether it may. */
export interface Plan {
  verb: OperationVerb;
  amount: bigint;
}

/** What came of an operation, as far as is known: `sent` means that the outcome is still to come. */
export interface Operated {
  payment: WholePayment;
  operation: OperationRow;
}

interface Rule {
  /** What is held from the intent to the outcome, and given free by it. */
  hold: (payment: Payment, amount: bigint) => Changes;
  release: (payment: Payment, amount: bigint) => Changes;
  /** What happens to the payment when the provider has done it. */
  event: (payment: Payment, amount: bigint) => PaymentEvent;
  effect: (payment: Payment, amount: bigint) => Changes;
  /** What the provider is asked to do. */
  provider: ProviderOperation['verb'];
}

const alone = (verb: OperationVerb): Pick<Rule, 'hold' | 'release'> => ({
  hold: () => ({ busy: verb }),
  release: () => ({ busy: null }),
});

const refund: Rule = {
  hold: ({ reserved }, amount) => ({ reserved: reserved + amount }),
  release: ({ reserved }, amount) => ({ reserved: reserved - amount }),
  event: ({ refunded, captured }, amount) => (refunded + amount === captured ? 'refunded' : 'partlyRefunded'),
  effect: ({ refunded }, amount) => ({ refunded: refunded + amount }),
  provider: 'refund',
};

const RULES: Readonly<Record<OperationVerb, Rule>> = {
  capture: {
    ...alone('capture'),
    event: () => 'captured',
    effect: (_, amount) => ({ captured: amount, dueAt: null }),
    provider: 'capture',
  },
  void: { ...alone('void'), event: () => 'voided', effect: () => ({ dueAt: null, nextStep: null }), provider: 'void' },
  reversal: { ...alone('reversal'), event: () => 'reversed', effect: () => ({ dueAt: null }), provider: 'void' },
  refund,
  credit: refund,
};

/** Does to a payment what `plan` allows; it is asked again whenever the payment has changed, and may refuse. */
export async function operate(
  gateway: Gateway,
  payment: WholePayment,
  actor: Actor,
  plan: (current: Payment) => Plan,
  /** Chosen before, and perhaps used already: by an earlier request, or in a process that died. */
  chosen?: ChosenId,
): Promise<Operated> {
  const key = { mid: payment.mid, operationId: chosen?.operationId ?? newId() };
  let begun: OperationRow | undefined;
  const move = await write(gateway, payment, async (before, now): Promise<Move | undefined> => {
    // Looked for after the payment was read: if it is written meanwhile, the payment has changed and is read again.
    if (chosen) begun = await gateway.operations.find(key);
    if (begun) return undefined;
    const { verb, amount } = plan(before);
    const intent: OperationRow = {
      ...key,
      paymentId: before.paymentId,
      verb,
      amount,
      content: chosen?.content ?? null,
      orderId: chosen?.orderId ?? null,
      state: 'sent',
      reason: null,
      asked: 0,
      // If this process dies before the outcome is written, the work loop asks the provider then.
      dueAt: now + LIMITS.submissionMs,
      requestedAt: now,
      finishedAt: null,
    };
    const held = { ...withHistory(before, now), ...RULES[verb].hold(before, amount) };
    return { before, after: held, event: `requested ${verb}`, actor, call: undefined, operation: intent };
  }).catch(async (error) => {
    // At the same moment the id was written for another payment, of which the guard on this payment knows nothing.
    if (chosen && isItemFault(error)) begun = await gateway.operations.find(key);
    if (!begun) throw error;
    return undefined;
  });
  if (move) return callProvider(gateway, move.after, move.operation as OperationRow, 'operate');
  return repeatedOperation(gateway, begun as unknown as OperationRow, chosen as ChosenId);
}

/** Asks about an operation whose outcome is not known; one that never arrived is sent again, where that is safe. */
export async function inquireOperation(
  gateway: Gateway,
  payment: WholePayment,
  operation: OperationRow,
): Promise<void> {
  await callProvider(gateway, payment, operation, 'queryOperation');
}

async function callProvider(
  gateway: Gateway,
  payment: WholePayment,
  operation: OperationRow,
  verb: 'operate' | 'queryOperation',
): Promise<Operated> {
  const connector = gateway.connectors[payment.connector];
  const started = performance.now();
  const record = (outcome: string): CallRecord => ({
    verb: operation.verb,
    connector: payment.connector,
    outcome,
    tookMs: Math.round(performance.now() - started),
  });
  const ask = async (): Promise<OperationOutcome> => {
    if (!connector) throw new Error(`There is no connector ${payment.connector}.`);
    const order: ProviderOperation = {
      verb: RULES[operation.verb].provider,
      reference: payment.paymentId,
      operation: operation.operationId,
      amount: operation.amount,
    };
    const outcome = await connector[verb](order);
    const isLost = outcome.kind === 'notFound' && verb === 'queryOperation' && connector.can.repeatsSafely;
    return isLost ? connector.operate(order) : outcome;
  };
  const isNew = verb === 'operate';
  const outcome = await ask().catch((error) => {
    gateway.log.warn({ err: error, payment_id: payment.paymentId, verb: operation.verb }, 'provider did not answer');
    return undefined;
  });
  const known: OperationOutcome = outcome ?? { kind: 'unknown' };
  return finish(gateway, payment, operation, known, record(outcome?.kind ?? 'no answer'), isNew);
}

/** Writes what came of an operation, together with what it means for the payment; once, however often it is told. */
async function finish(
  gateway: Gateway,
  payment: WholePayment,
  operation: OperationRow,
  outcome: OperationOutcome,
  call: CallRecord,
  isNew: boolean,
): Promise<Operated> {
  const { verb, amount } = operation;
  const { release, event: eventOf, effect } = RULES[verb];
  let current = payment;
  let stored = operation;
  const compose = (before: WholePayment, now: number): Move => {
    const moved = withHistory(before, now);
    const actor = 'provider';
    if (outcome.kind === 'done') {
      const done: OperationRow = { ...operation, state: 'done', dueAt: null, finishedAt: now };
      const event = eventOf(before, amount);
      const to = nextState(before.state, event);
      const free = { ...moved, ...release(before, amount) };
      if (to === undefined) {
        // Other news came first: what was held is free all the same, and what was paid back counts.
        const counted = RULES[verb] === refund ? { ...free, ...effect(before, amount) } : free;
        const after: WholePayment = isLateSuccess(before, event) ? { ...counted, attention: 'late_success' } : counted;
        return { before, after, event: `noted ${event}`, actor, call, operation: done };
      }
      return { before, after: { ...free, ...effect(before, amount), state: to }, event, actor, call, operation: done };
    }
    if (outcome.kind === 'declined') {
      const { reason } = outcome;
      const refused: OperationRow = { ...operation, state: 'declined', reason, dueAt: null, finishedAt: now };
      // The provider settled it by itself and refuses the part: then everything was taken.
      const isWhole = verb === 'capture' && before.state === 'SETTLED';
      const after = { ...moved, ...release(before, amount), ...(isWhole && { captured: before.authorised }) };
      return { before, after, event: `refused ${verb}`, actor, call, operation: refused };
    }
    const asked = operation.asked + 1;
    const waiting = { ...operation, asked, dueAt: now + nextPause(LIMITS.askAgainMs, operation.asked) };
    const after: WholePayment = asked > LIMITS.askAgainMs.length ? { ...moved, attention: 'unresolved' } : moved;
    return { before, after, event: `unanswered ${verb}`, actor, call, operation: waiting };
  };
  const move = await write(gateway, payment, async (before, now) => {
    current = before;
    // Nobody else can have finished it as long as nothing was written since the intent.
    const isUntouched = isNew && before.historyLength === payment.historyLength;
    if (!isUntouched) stored = (await gateway.operations.find(operation)) ?? operation;
    return stored.state === 'sent' ? compose(before, now) : undefined;
  });
  return move
    ? { payment: move.after, operation: move.operation as OperationRow }
    : { payment: current, operation: stored };
}
