/** Speaks to the provider of a payment and tells what its answer means for the payment. */
import type { Authentication, Meaning, Outcome, Submission, Told } from '../../connectors/connector.ts';
import { brandOf } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import { settingsReader } from '../../rules/settings.ts';
import { isOpen } from '../../rules/states.ts';
import type { CallRecord, NextStep, Payment, WholePayment } from '../../store/payments.ts';
import { shownName } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { abandon, advance, type Happening, noteAsked, noteDoubt } from './advance.ts';
import { linkOf } from './links.ts';
import { secretsOf } from './secrets.ts';

/** How the history tells that a provider has no such payment. */
const NOT_FOUND = 'not found';

type KnownOutcome = Exclude<NonNullable<Meaning>, { kind: 'unknown' | 'notFound' }>;

type Answer =
  /** The provider does not know, or did not answer at all: that is never a decline. */
  | { kind: 'nothing'; call: CallRecord }
  | { kind: 'notFound'; call: CallRecord }
  /** It told another amount than ours. */
  | { kind: 'doubtful'; call: CallRecord }
  | { kind: 'outcome'; outcome: KnownOutcome; call: CallRecord };

/** The card of a submission, opened for it, and what its bank said of the payer. */
type ByCard = Pick<Submission, 'card' | 'authentication'>;
const NO_CARD: ByCard = {};

async function callProvider(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  verb: 'submit' | 'query',
  patienceMs: number,
  byCard = NO_CARD,
): Promise<Answer> {
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
    if (verb === 'query' && !connector.can.answersQueries) return { kind: 'nothing', call: record('cannot be asked') };
    const answer = connector[verb](submission(gateway, payment, account, byCard));
    const outcome = answer instanceof Promise ? await inTime(answer, patienceMs) : answer;
    return judge(payment, outcome, record);
  } catch (error) {
    gateway.log.warn({ err: error, payment_id: payment.paymentId, verb }, 'provider did not answer');
    return { kind: 'nothing', call: record('no answer') };
  }
}

/** What an answer is worth: an outcome is believed only if it speaks of our amount. */
function judge(payment: Payment, outcome: Outcome, record: (outcome: string) => CallRecord): Answer {
  if (outcome.kind === 'unknown') return { kind: 'nothing', call: record('unknown') };
  if (outcome.kind === 'notFound') return { kind: 'notFound', call: record(NOT_FOUND) };
  if (!isOurs(payment, outcome.told)) return { kind: 'doubtful', call: record(`${outcome.kind}, wrong amount`) };
  return { kind: 'outcome', outcome, call: record(outcome.kind) };
}

export const isOurs = (payment: Payment, told: Told | undefined): boolean =>
  told === undefined || (told !== 'nonsense' && told.amount === payment.amount && told.currency === payment.currency);

/** What comes later than the limit is not waited for: the provider is asked about it instead. */
async function inTime<Value>(call: Promise<Value>, patienceMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The provider took too long.')), patienceMs);
  });
  return Promise.race([call, late]).finally(() => clearTimeout(timer));
}

function submission(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  { card, authentication }: ByCard,
): Submission {
  const { details } = payment;
  const brand = brandOf(payment.brand);
  return {
    reference: payment.paymentId,
    brand: payment.brand,
    mid: payment.mid,
    merchantName: shownName(account),
    isPayout: brand?.isPayout === true,
    amount: payment.amount,
    currency: payment.currency,
    authoriseOnly: payment.isAuthorisation,
    description: details.description,
    identifier: details.identifier ?? '',
    payer: details.payer,
    parameters: () => ({ ...details.parameters, ...secretsOf(gateway, payment) }),
    methods: details.methods ?? [],
    returnUrl: `${gateway.publicUrl}/return/${linkOf(gateway, payment.paymentId)}`,
    notifyUrl: `${gateway.inboundUrl}/inbound/${payment.connector}`,
    card,
    authentication,
    recurringOf: details.recurringOf,
    setting: settingsReader(account.settings),
  };
}

/** Submits a payment whose intent is durable, and writes what came of it. */
export async function submit(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  byCard?: ByCard,
): Promise<WholePayment> {
  const answer = await callProvider(gateway, payment, account, 'submit', LIMITS.providerMs, byCard);
  const authentication = byCard?.authentication;
  if (answer.kind === 'outcome') return apply(gateway, payment, account, answer.outcome, answer.call, authentication);
  return advance(gateway, payment, {
    event: 'unanswered',
    actor: 'provider',
    call: answer.call,
    authentication,
    dueAt: gateway.clock.now(payment.mid) + LIMITS.askAgainMs[0],
    ...(answer.kind === 'doubtful' && { attention: 'wrong_amount' }),
  });
}

/** Asks the provider about a payment whose outcome is not known. */
export async function inquire(gateway: Gateway, payment: WholePayment, account: Account): Promise<void> {
  const answer = await callProvider(gateway, payment, account, 'query', LIMITS.providerMs);
  const { call } = answer;
  if (answer.kind === 'doubtful') await noteDoubt(gateway, payment, 'clock', call);
  else if (answer.kind === 'outcome' && isWaitingForNobody(gateway, payment, answer.outcome)) {
    await abandon(gateway, payment);
  } else if (answer.kind === 'outcome' && !isStillOpen(payment, answer.outcome)) {
    await apply(gateway, payment, account, answer.outcome, call);
  } else if (!isOpen(payment.state)) {
    const isNothingComing =
      answer.kind === 'notFound' || (answer.kind === 'outcome' && answer.outcome.kind === 'declined');
    await noteAsked(gateway, payment, call, isNothingComing ? { dueAt: null } : {});
  } else if (answer.kind === 'notFound' && (await wasNeverReceived(gateway, payment))) {
    const declineReason = REASONS.neverReceived;
    await advance(gateway, payment, { event: 'declined', actor: 'provider', call, declineReason });
  } else await noteAsked(gateway, payment, call);
}

/** A provider that says so twice in a row, with a pause between, never received the payment. */
async function wasNeverReceived(gateway: Gateway, payment: Payment): Promise<boolean> {
  if (!gateway.connectors[payment.connector]?.can.knowsWhatItLacks) return false;
  const history = await gateway.payments.history(payment);
  return history.at(-1)?.call?.outcome === NOT_FOUND;
}

/** Somebody waits for the answer: asks the provider, and writes down only what changes something. */
export async function inquireNow(gateway: Gateway, payment: WholePayment, account: Account): Promise<WholePayment> {
  if (!isOpen(payment.state) || payment.nextStep?.kind === 'fields') return payment;
  const answer = await callProvider(gateway, payment, account, 'query', LIMITS.patienceMs);
  if (answer.kind === 'doubtful') return noteDoubt(gateway, payment, 'provider', answer.call);
  if (answer.kind !== 'outcome' || isStillOpen(payment, answer.outcome)) return payment;
  return apply(gateway, payment, account, answer.outcome, answer.call);
}

/** Whether a provider that was asked tells no more than is known already. */
function isStillOpen({ state, nextStep, inDoubt }: Payment, { kind }: KnownOutcome): boolean {
  if (kind === 'redirected') return state === 'REDIRECT' ? nextStep !== null : state !== 'PREPARE';
  if (kind === 'accepted') return state === 'PENDING' ? !inDoubt : !isOpen(state);
  return kind === 'declined' && !isOpen(state);
}

/** The provider waits for a payer who never heard of it, because its answer to us was lost, and the time is over. */
const isWaitingForNobody = (gateway: Gateway, { state, payerUntil, mid }: Payment, { kind }: KnownOutcome): boolean =>
  kind === 'redirected' &&
  (state === 'PENDING' || state === '3DS') &&
  payerUntil !== null &&
  gateway.clock.now(mid) >= payerUntil;

/** Writes what an outcome means for the payment. */
export function apply(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  outcome: KnownOutcome,
  call: CallRecord,
  authentication?: Authentication,
): Promise<WholePayment> {
  const { kind, providerReference } = outcome;
  const now = gateway.clock.now(payment.mid);
  const happening: Happening = { event: kind, actor: 'provider', call, providerReference, authentication };
  switch (kind) {
    case 'declined':
      return advance(gateway, payment, { ...happening, declineReason: outcome.reason });
    case 'authorised':
      return advance(gateway, payment, {
        ...happening,
        dueAt: now + account.settings.authorisation_days * LIMITS.dayMs,
      });
    case 'accepted':
    case 'redirected': {
      // News of the outcome may get lost, so the provider is asked as well.
      const dueAt = isAskable(gateway, payment) ? now + LIMITS.askAgainMs[0] : undefined;
      const nextStep = nextStepOf(payment, outcome);
      const isDoubtOver = kind === 'accepted' && payment.state === 'PENDING' && payment.inDoubt;
      if (isDoubtOver) {
        return noteAsked(gateway, payment, call, { inDoubt: false, attention: null, nextStep: nextStep ?? null });
      }
      return advance(gateway, payment, { ...happening, dueAt, nextStep });
    }
    default:
      return advance(gateway, payment, happening);
  }
}

const isAskable = (gateway: Gateway, payment: Payment): boolean =>
  gateway.connectors[payment.connector]?.can.answersQueries === true;

function nextStepOf(payment: Payment, outcome: KnownOutcome): NextStep | undefined {
  if (outcome.kind === 'redirected') {
    return { kind: 'redirect', url: outcome.url, method: outcome.method, params: outcome.params };
  }
  if (outcome.kind !== 'accepted') return undefined;
  const { code, instructions } = outcome;
  const shownMs = brandOf(payment.brand)?.codeTimeMs ?? LIMITS.payerMs;
  if (code !== undefined) return { kind: 'code', text: code, until: payment.updatedAt + shownMs };
  return instructions && { kind: 'transfer', instructions: Object.entries(instructions) };
}
