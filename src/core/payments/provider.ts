/** Speaks to the provider of a payment and tells what its answer means for the payment. */
import type { Outcome, Submission } from '../../connectors/connector.ts';
import { LIMITS } from '../../rules/limits.ts';
import { listsOf, type Settings } from '../../rules/settings.ts';
import type { CallRecord, Payment, WholePayment } from '../../store/payments.ts';
import type { Gateway } from '../context.ts';
import { advance, noteAsked } from './advance.ts';

type Verb = CallRecord['verb'];

type KnownOutcome = Exclude<Outcome, { kind: 'unknown' }>;

interface Answer {
  /** Nothing when the provider does not know, or did not answer at all: that is never a decline. */
  outcome: KnownOutcome | undefined;
  call: CallRecord;
}

async function callProvider(gateway: Gateway, payment: WholePayment, settings: Settings, verb: Verb): Promise<Answer> {
  const connector = gateway.connectors[payment.connector];
  const started = performance.now();
  const record = (outcome: string): CallRecord => ({
    verb,
    connector: payment.connector,
    outcome,
    tookMs: Math.round(performance.now() - started),
  });
  try {
    if (!connector) throw new Error(`There is no connector ${payment.connector}.`);
    const answer = connector[verb](submission(payment, settings));
    const outcome = answer instanceof Promise ? await inTime(answer) : answer;
    return { outcome: outcome.kind === 'unknown' ? undefined : outcome, call: record(outcome.kind) };
  } catch (error) {
    gateway.log.warn({ err: error, payment_id: payment.paymentId, verb }, 'provider did not answer');
    return { outcome: undefined, call: record('no answer') };
  }
}

/** What comes later than the limit is not waited for: the provider is asked about it instead. */
async function inTime<Value>(call: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The provider took too long.')), LIMITS.providerMs);
  });
  return Promise.race([call, late]).finally(() => clearTimeout(timer));
}

const submission = (payment: WholePayment, settings: Settings): Submission => ({
  reference: payment.paymentId,
  amount: payment.amount,
  currency: payment.currency,
  authoriseOnly: payment.isAuthorisation,
  identifier: payment.details.identifier ?? '',
  list: listsOf(settings),
});

/** Submits a payment whose intent is durable, and writes what came of it. */
export async function submit(gateway: Gateway, payment: WholePayment, settings: Settings): Promise<Payment> {
  const { outcome, call } = await callProvider(gateway, payment, settings, 'submit');
  return outcome === undefined
    ? advance(gateway, payment, {
        event: 'unanswered',
        actor: 'provider',
        call,
        dueAt: gateway.clock.now(payment.mid) + LIMITS.askAgainMs[0],
      })
    : apply(gateway, payment, settings, outcome, call);
}

/** Asks the provider about a payment whose outcome is not known. */
export async function inquire(gateway: Gateway, payment: WholePayment, settings: Settings): Promise<void> {
  const { outcome, call } = await callProvider(gateway, payment, settings, 'query');
  // Accepted and still waiting is all that is known of a pending payment already: it is no outcome.
  const isWaiting = outcome?.kind === 'accepted' && payment.state === 'PENDING';
  if (outcome === undefined || isWaiting) await noteAsked(gateway, payment, call);
  else await apply(gateway, payment, settings, outcome, call);
}

function apply(
  gateway: Gateway,
  payment: Payment,
  settings: Settings,
  outcome: KnownOutcome,
  call: CallRecord,
): Promise<Payment> {
  const { kind, providerReference } = outcome;
  const happening = { event: kind, actor: 'provider', call, providerReference } as const;
  if (kind === 'declined') return advance(gateway, payment, { ...happening, declineReason: outcome.reason });
  if (kind === 'authorised') {
    const dueAt = gateway.clock.now(payment.mid) + settings.authorisation_days * LIMITS.dayMs;
    return advance(gateway, payment, { ...happening, dueAt });
  }
  return advance(gateway, payment, happening);
}
