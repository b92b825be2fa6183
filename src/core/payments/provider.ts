/** Speaks to the provider of a payment and tells what its answer means for the payment. */
import type { Authentication, NotificationMeaning, Outcome, ReportedAmount, Submission } from '../../connectors/connector.ts';
import { Deadline } from '../../lib/deadline.ts';
import { brandOf } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import { settingsReader } from '../../rules/settings.ts';
import { isOpen } from '../../rules/states.ts';
import type { CallRecord, Changes, NextStep, Payment, WholePayment } from '../../store/payments.ts';
import { displayName } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { abandon, advance, type EventInput } from './advance.ts';
import { callProvider, sendDeadline } from './call.ts';
import { wasSubmitted } from './deadlines.ts';
import { linkOf } from './links.ts';
import { recordQuery, recordWrongAmount } from './record.ts';
import { secretsOf } from './secrets.ts';

/** How the history tells that a provider has no such payment. */
const NOT_FOUND = 'not found';

type KnownOutcome = Exclude<NonNullable<NotificationMeaning>, { kind: 'unknown' | 'notFound' }>;

/** What a provider's answer about a payment is worth. */
type PaymentVerdict =
  /** The provider does not know, or did not answer at all: that is never a decline. */
  | { kind: 'nothing'; call: CallRecord }
  /** Nothing has left this process. */
  | { kind: 'notSent'; call: CallRecord }
  | { kind: 'notFound'; call: CallRecord }
  /** It told another amount than ours. */
  | { kind: 'doubtful'; call: CallRecord }
  | { kind: 'outcome'; outcome: KnownOutcome; call: CallRecord };

/** The card of a submission, opened for it, and what its bank said of the payer. */
type ByCard = Pick<Submission, 'card' | 'authentication'>;
const NO_CARD: ByCard = {};

async function ask(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  verb: 'submit' | 'query',
  deadline: Deadline,
  byCard = NO_CARD,
): Promise<PaymentVerdict> {
  const reply = await callProvider<Outcome>(gateway, {
    payment,
    verb,
    isQuery: verb === 'query',
    deadline,
    perform: (connector) => connector[verb](submission(gateway, payment, account, byCard), deadline),
  });
  if (reply.kind === 'answered') return judge(payment, reply.result, reply.record);
  return { kind: reply.kind === 'notSent' ? 'notSent' : 'nothing', call: reply.call };
}

/** Asks a provider; one that cannot be asked says nothing. */
const query = async (
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  timeoutMs: number,
): Promise<PaymentVerdict> =>
  isAskable(gateway, payment)
    ? ask(gateway, payment, account, 'query', new Deadline(timeoutMs))
    : { kind: 'nothing', call: { verb: 'query', connector: payment.connector, outcome: 'cannot be asked', tookMs: 0 } };

/** What an answer is worth: an outcome is believed only if it speaks of our amount. */
function judge(payment: Payment, outcome: Outcome, record: (outcome: string) => CallRecord): PaymentVerdict {
  if (outcome.kind === 'unknown') return { kind: 'nothing', call: record('unknown') };
  if (outcome.kind === 'notFound') return { kind: 'notFound', call: record(NOT_FOUND) };
  if (!isExpectedAmount(payment, outcome.reportedAmount))
    return { kind: 'doubtful', call: record(`${outcome.kind}, wrong amount`) };
  return { kind: 'outcome', outcome, call: record(outcome.kind) };
}

export function isExpectedAmount(
  { amount, currency }: Pick<Payment, 'amount' | 'currency'>,
  reported: ReportedAmount | undefined,
): boolean {
  if (reported === undefined || reported === 'invalid') return reported === undefined;
  return reported.amount === amount && (reported.currency ?? currency) === currency;
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
    merchantName: displayName(account),
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
  const answer = await ask(gateway, payment, account, 'submit', sendDeadline(gateway, payment), byCard);
  const { call } = answer;
  const authentication = byCard?.authentication;
  if (answer.kind === 'outcome') return apply(gateway, payment, account, answer.outcome, call, authentication);
  if (answer.kind === 'notSent') {
    const declineReason = REASONS.neverReceived;
    return advance(gateway, payment, { event: 'declined', actor: 'provider', call, authentication, declineReason });
  }
  return advance(gateway, payment, {
    event: 'unanswered',
    actor: 'provider',
    call,
    authentication,
    dueAt: gateway.clock.now(payment.mid) + LIMITS.queryBackoffMs[0],
    ...(answer.kind === 'doubtful' && { attention: 'wrong_amount' }),
  });
}

/** Asks the provider about a payment whose outcome is not known. */
export async function queryProvider(gateway: Gateway, payment: WholePayment, account: Account): Promise<void> {
  const answer = await query(gateway, payment, account, LIMITS.providerTimeoutMs);
  const { call } = answer;
  if (answer.kind === 'doubtful') await recordWrongAmount(gateway, payment, 'clock', call);
  else if (answer.kind === 'outcome' && isWaitingForNobody(gateway, payment, answer.outcome)) {
    await abandon(gateway, payment);
  } else if (answer.kind === 'outcome' && !isStillOpen(payment, answer.outcome)) {
    await apply(gateway, payment, account, answer.outcome, call);
  } else if (!isOpen(payment.state)) {
    const isNothingComing =
      answer.kind === 'notFound' || (answer.kind === 'outcome' && answer.outcome.kind === 'declined');
    await recordQuery(gateway, payment, call, isNothingComing ? { dueAt: null, ...withoutConflict(payment) } : {});
  } else if (answer.kind === 'outcome' && answer.outcome.kind === 'authorised') {
    const dueAt = await authorisationEnd(gateway, payment, account);
    await recordQuery(gateway, payment, call, { queryCount: 0, dueAt, ...withoutConflict(payment) });
  } else if (answer.kind === 'notFound' && (await wasNeverReceived(gateway, payment))) {
    await declineNeverReceived(gateway, payment, call);
  } else await recordQuery(gateway, payment, call);
}

/** The provider has said which of two reports was right. */
const withoutConflict = ({ attention }: Payment): Changes => (attention === 'conflict' ? { attention: null } : {});

/** It is still asked about: if the provider has it after all, that is a late success. */
const declineNeverReceived = (gateway: Gateway, payment: WholePayment, call: CallRecord): Promise<WholePayment> =>
  advance(gateway, payment, {
    event: 'declined',
    actor: 'provider',
    call,
    declineReason: REASONS.neverReceived,
    dueAt: gateway.clock.now(payment.mid) + LIMITS.lateQueryBackoffMs[0],
  });

/** The events after which a payment may have been submitted. */
const MAY_BE_SENT: readonly string[] = ['opened', 'collected', 'authenticated'];

/**
 * Two consecutive "not found" answers, separated by a pause, mean that the provider never received the payment; but only
 * once nothing can be on its way any more, and the provider has had time for what arrived last.
 */
async function wasNeverReceived(gateway: Gateway, payment: Payment): Promise<boolean> {
  if (!gateway.connectors[payment.connector]?.capabilities.notFoundIsFinal) return false;
  const history = await gateway.payments.history(payment);
  if (history.at(-1)?.call?.outcome !== NOT_FOUND) return false;
  const lastIntent = history.findLast(({ event }) => MAY_BE_SENT.includes(event))?.at ?? payment.createdAt;
  return gateway.clock.now(payment.mid) >= lastIntent + LIMITS.submissionMs + LIMITS.neverReceivedMs;
}

/** When an authorisation that nothing is captured of ends. */
export async function authorisationEnd(gateway: Gateway, payment: Payment, { settings }: Account): Promise<number> {
  const history = await gateway.payments.history(payment);
  const authorisedAt = history.find(({ event }) => event === 'authorised')?.at ?? payment.createdAt;
  return authorisedAt + settings.authorisation_days * LIMITS.dayMs;
}

/**
 * The provider refused to void an authorisation whose time is over: it has settled it, let go of it already, or still holds
 * it. In the last case an operator has to look.
 */
export async function expireAfterRefusedVoid(gateway: Gateway, payment: WholePayment, account: Account): Promise<void> {
  const answer = await query(gateway, payment, account, LIMITS.providerTimeoutMs);
  const { call } = answer;
  if (answer.kind === 'doubtful') await recordWrongAmount(gateway, payment, 'clock', call);
  else if (answer.kind === 'outcome' && answer.outcome.kind === 'settled') {
    await apply(gateway, payment, account, answer.outcome, call);
  } else if (answer.kind === 'outcome' || answer.kind === 'notFound') {
    const isHeld = answer.kind === 'outcome' && answer.outcome.kind !== 'declined';
    await advance(gateway, payment, {
      event: 'expired',
      actor: 'clock',
      call,
      ...(isHeld && { attention: 'unresolved' }),
    });
  } else await recordQuery(gateway, payment, call);
}

/** A request waits for the answer: asks the provider, and writes down only what changes something. */
export async function queryProviderNow(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
): Promise<WholePayment> {
  if (!isOpen(payment.state) || !wasSubmitted(payment)) return payment;
  const answer = await query(gateway, payment, account, LIMITS.outcomeTimeoutMs);
  if (answer.kind === 'doubtful') return recordWrongAmount(gateway, payment, 'provider', answer.call);
  if (answer.kind !== 'outcome' || isStillOpen(payment, answer.outcome)) return payment;
  return apply(gateway, payment, account, answer.outcome, answer.call);
}

/**
 * Ends a payment whose payer's time is over. The provider is asked first: a payment that succeeded is a success. While it
 * does not answer the payment stays open, and the work loop asks again; unless its brand says that time alone ends it.
 */
export async function endOutOfTime(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  asker: 'request' | 'work loop' = 'request',
): Promise<WholePayment> {
  if (!wasSubmitted(payment) || !isAskable(gateway, payment)) return abandon(gateway, payment);
  const isDue = asker === 'work loop';
  const answer = await query(gateway, payment, account, isDue ? LIMITS.providerTimeoutMs : LIMITS.outcomeTimeoutMs);
  if (answer.kind === 'doubtful') return recordWrongAmount(gateway, payment, isDue ? 'clock' : 'provider', answer.call);
  const isUnanswered = answer.kind === 'nothing' || answer.kind === 'notSent';
  if (isUnanswered && !endsByTimeAlone(payment)) return isDue ? recordQuery(gateway, payment, answer.call) : payment;
  const isOutcome = answer.kind === 'outcome' && !['accepted', 'redirected'].includes(answer.outcome.kind);
  return isOutcome ? apply(gateway, payment, account, answer.outcome, answer.call) : abandon(gateway, payment);
}

/** Some brands give the payer a fixed time; and the card of a payer who is still at the bank was not submitted yet. */
const endsByTimeAlone = ({ brand, nextStep }: Payment): boolean =>
  brandOf(brand)?.payerTimeMs !== undefined || nextStep?.kind === 'challenge';

/** Whether a provider that was asked tells no more than is known already. */
function isStillOpen({ state, nextStep, inDoubt, authorised }: Payment, { kind }: KnownOutcome): boolean {
  if (kind === 'redirected') return state === 'REDIRECT' ? nextStep !== null : state !== 'PREPARE';
  if (kind === 'accepted') return state === 'PENDING' ? !inDoubt : !isOpen(state);
  if (kind === 'authorised') return authorised > 0n;
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
  const record: EventInput = { event: kind, actor: 'provider', call, providerReference, authentication };
  switch (kind) {
    case 'declined':
      return advance(gateway, payment, { ...record, declineReason: outcome.reason });
    case 'authorised': {
      // Reported once more, it does not last longer.
      const end = now + account.settings.authorisation_days * LIMITS.dayMs;
      return advance(gateway, payment, { ...record, dueAt: payment.authorised > 0n ? (payment.dueAt ?? end) : end });
    }
    case 'accepted':
    case 'redirected': {
      // News of the outcome may get lost, so the provider is asked as well.
      const dueAt = isAskable(gateway, payment) ? now + LIMITS.queryBackoffMs[0] : undefined;
      const nextStep = nextStepOf(payment, outcome);
      const isDoubtOver = kind === 'accepted' && payment.state === 'PENDING' && payment.inDoubt;
      if (isDoubtOver) {
        return recordQuery(gateway, payment, call, { inDoubt: false, attention: null, nextStep: nextStep ?? null });
      }
      return advance(gateway, payment, { ...record, dueAt, nextStep });
    }
    default:
      return advance(gateway, payment, record);
  }
}

const isAskable = (gateway: Gateway, payment: Payment): boolean =>
  gateway.connectors[payment.connector]?.capabilities.supportsQueries === true;

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
