/** Submits payments to their provider, and to the next route if the provider did not get one or declined it softly. */
import { NO_CONNECTOR } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import { AUTHENTICATION_REQUIRED, DECLINE_CAUSES, REASONS, UNANSWERED_AUTHENTICATION } from '../../rules/reasons.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import { capabilitiesOf } from '../connections/connectors.ts';
import { learned } from '../connections/provider-data.ts';
import { factsOf, nextRoute } from '../connections/route.ts';
import type { Account, Gateway } from '../context.ts';
import { advance } from './advance.ts';
import { hasPaused, sendDeadline } from './call.ts';
import { applyOutcome, callAndCheck, type ProviderAnswer } from './provider.ts';
import { type CardFields, NO_CARD } from './submission.ts';

/**
 * Submits a payment whose intent is durable, and writes the outcome. A payment that was not sent, or that was declined
 * softly, goes to the next route; one whose outcome is unknown never does.
 */
export async function submit(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  cardFields: CardFields = NO_CARD,
  /** Set if the payer is not authenticated yet: does so and submits, at a route whose provider does not. */
  authenticate?: (payment: PaymentWithDetails) => Promise<PaymentWithDetails>,
): Promise<PaymentWithDetails> {
  let current = payment;
  for (let limited = 0; ; ) {
    const deadline = sendDeadline(gateway, current);
    const called = callAndCheck(gateway, current, account, { verb: 'submit', deadline, cardFields });
    const answer = called instanceof Promise ? await called : called;
    const isElsewhere =
      answer.kind === 'notSent' ||
      (answer.kind === 'outcome' && answer.outcome.kind === 'declined' && answer.outcome.isSoft === true);
    const again = await resubmission(gateway, current, answer, cardFields);
    if (again && cardFields.challenge) return cardFields.challenge(again);
    // Only without another route the same provider is asked again.
    const next = isElsewhere && (await reroute(gateway, current, account, answer, cardFields));
    if (!next && (await hasPaused(answer, limited, sendDeadline(gateway, current)))) {
      limited++;
      continue;
    }
    if (!next) return writeSubmission(gateway, current, account, answer, cardFields);
    const isAuthenticatedThere = capabilitiesOf(gateway, next.connector)?.authentication === 'provider';
    if (authenticate && gateway.threeDs && !isAuthenticatedThere) return authenticate(next);
    current = next;
  }
}

/** Writes the answer to a submission. */
function writeSubmission(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  answer: ProviderAnswer,
  { authentication, isUnanswered }: CardFields,
): Promise<PaymentWithDetails> {
  const result = authentication?.transStatus ?? (isUnanswered ? UNANSWERED_AUTHENTICATION : undefined);
  const call = result === undefined ? answer.call : { ...answer.call, authentication: result };
  if (answer.kind === 'outcome') return applyOutcome(gateway, payment, account, answer.outcome, call, authentication);
  if (answer.kind === 'notSent') {
    const declineReason =
      payment.connector === NO_CONNECTOR ? DECLINE_CAUSES.methodUnavailable.reason : REASONS.neverReceived;
    return advance(gateway, payment, { event: 'declined', actor: 'provider', call, authentication, declineReason });
  }
  return advance(gateway, payment, {
    event: 'unanswered',
    actor: 'provider',
    call,
    authentication,
    dueAt: gateway.clock.now(payment.mid) + LIMITS.queryBackoffMs[0],
    ...(answer.kind === 'unknown' && { learned: answer.learned }),
    ...(answer.kind === 'wrongAmount' && { attention: 'wrong_amount' }),
  });
}

/**
 * The payment for one more submission to the same provider, if a rule asked for no authentication and the issuer wants
 * one. Undefined otherwise, or if another process has changed the payment meanwhile.
 */
async function resubmission(
  gateway: Gateway,
  payment: PaymentWithDetails,
  answer: ProviderAnswer,
  { threeDs, challenge }: CardFields,
): Promise<PaymentWithDetails | undefined> {
  if (threeDs?.requested !== 'none' || !challenge) return undefined;
  const isWanted =
    answer.kind === 'outcome' && answer.outcome.kind === 'declined' && answer.outcome.decline?.class === 'authenticate';
  if (!isWanted) return undefined;
  const { connector, routeReason } = payment;
  return moved(gateway, payment, answer, { connector, routeReason }, AUTHENTICATION_REQUIRED);
}

/**
 * Moves a payment to its next route, before it is submitted there: if this process dies, the work loop queries the new
 * connection. Undefined if there is no further route, or another process has changed the payment meanwhile.
 */
async function reroute(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  answer: ProviderAnswer,
  { card, browser }: CardFields,
): Promise<PaymentWithDetails | undefined> {
  const submission = payment.providerData?.submission ?? 1;
  if (submission >= LIMITS.submissionsMost || payment.details.recurringOf !== undefined) return undefined;
  const former = submission === 1 ? [] : await gateway.payments.formerSubmissions(payment);
  const tried = [...former.map(({ connector }) => connector), payment.connector];
  // Before a challenge the payer is on our page, so the browser is known.
  const hasPassedChallenge = payment.state === '3DS' && browser === undefined;
  const facts = factsOf(payment, card?.number.reveal());
  const route = nextRoute(gateway, account, facts, payment, tried, hasPassedChallenge);
  if (!route) return undefined;
  return moved(gateway, payment, answer, route, answer.kind === 'notSent' ? 'not sent' : 'soft decline');
}

/** Writes the next submission of a payment; undefined if another process has changed the payment meanwhile. */
async function moved(
  gateway: Gateway,
  payment: PaymentWithDetails,
  answer: ProviderAnswer,
  route: Pick<PaymentWithDetails, 'connector' | 'routeReason'>,
  cause: string,
): Promise<PaymentWithDetails | undefined> {
  const submission = payment.providerData?.submission ?? 1;
  const now = gateway.clock.now(payment.mid);
  const after: PaymentWithDetails = {
    ...payment,
    ...route,
    routeReason: `${route.routeReason === null ? '' : `${route.routeReason}; `}after submission ${submission}: ${cause}`,
    providerReference: null,
    providerData: { submission: submission + 1 },
    dueAt: now + LIMITS.submissionMs,
    updatedAt: now,
    historyLength: payment.historyLength + 1,
  };
  const brought = answer.kind === 'outcome' ? learned(gateway, payment, answer.outcome) : {};
  const { sealed: _, ...providerData } = brought.providerData ?? payment.providerData ?? {};
  const providerReference = brought.providerReference ?? payment.providerReference;
  const left = { submission, connector: payment.connector, providerReference, providerData };
  return (await gateway.payments.reroute(payment, after, left, answer.call)) ? after : undefined;
}
