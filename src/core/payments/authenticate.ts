/** Authenticates the payer of a card by 3-D Secure before the card is submitted. */
import type { Authentication, BrowserData } from '../../connectors/connector.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import type { ThreeDsRequest } from '../../rules/risk/actions.ts';
import type { CallRecord, PaymentWithDetails } from '../../store/payments/payments.ts';
import { displayName } from '../accounts/accounts.ts';
import { type Card, keepCard } from '../cards/vault.ts';
import { capabilitiesOf } from '../connections/connectors.ts';
import type { Account, Gateway } from '../context.ts';
import { advance } from './advance.ts';
import { linkOf } from './links.ts';
import { sealAddress } from './secrets.ts';
import { submit } from './submit.ts';

export type { BrowserData, BrowserScreen } from '../../connectors/connector.ts';

/** The values of `transStatus` with which the card is submitted; any other one is a decline. */
const PROCEED: readonly string[] = ['Y', 'A', 'I', 'U'];

export const authenticationCall = (outcome: string, tookMs: number): CallRecord => ({
  verb: 'authenticate',
  connector: '3ds',
  outcome,
  tookMs,
});

/** Authenticates the payer, unless the merchant enters the card of a caller; then submits the card, declines the payment, or starts a challenge. */
export async function payByCard(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  card: Card,
  browser: BrowserData,
  threeDs?: ThreeDsRequest,
): Promise<PaymentWithDetails> {
  // The cardholder is on the phone, and can pass no challenge.
  if (payment.details.session?.isTelephoneOrder) return submit(gateway, payment, account, { card });
  const isAuthenticatedThere = capabilitiesOf(gateway, payment.connector)?.authentication === 'provider';
  if (!isAuthenticatedThere) return authenticateAndSubmit(gateway, payment, account, card, browser, threeDs);
  const challenge = (again: PaymentWithDetails): Promise<PaymentWithDetails> =>
    payByCard(gateway, again, account, card, browser, CHALLENGE);
  return submit(gateway, payment, account, { card, browser, threeDs, challenge }, (next) =>
    authenticateAndSubmit(gateway, next, account, card, browser, threeDs),
  );
}

/** What is asked for after the issuer refused to go without an authentication. */
export const CHALLENGE: ThreeDsRequest = { requested: 'challenge', reason: 'require_3ds' };

async function authenticateAndSubmit(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  card: Card,
  browser: BrowserData,
  threeDs?: ThreeDsRequest,
): Promise<PaymentWithDetails> {
  const challenge = (again: PaymentWithDetails): Promise<PaymentWithDetails> =>
    authenticateAndSubmit(gateway, again, account, card, browser, CHALLENGE);
  // The rule asks for no authentication at all.
  if (threeDs?.reason === 'skip_3ds') return submit(gateway, payment, account, { card, browser, threeDs, challenge });
  const started = performance.now();
  const took = (): number => Math.round(performance.now() - started);
  const answer = await authenticate(gateway, payment, account, card, browser, threeDs);
  if (answer === undefined || answer.kind === 'notEnrolled' || answer.kind === 'unanswered')
    return submit(gateway, payment, account, { card, browser, threeDs, isUnanswered: answer?.kind === 'unanswered' });
  const { authentication } = answer;
  if (answer.kind === 'challenge') {
    const kept = payment.details.card;
    // The card is submitted when the payer comes back, perhaps by another process.
    if (kept?.isTransient) await keepCard(gateway, payment, card, false, kept);
    gateway.securityCodes.keep(payment.paymentId, card.cvv);
    return advance(gateway, payment, {
      event: 'challenged',
      actor: 'provider',
      call: authenticationCall('C', took()),
      nextStep: {
        kind: 'challenge',
        acsUrl: answer.acsUrl,
        acsTransId: answer.acsTransId,
        version: authentication.protocolVersion,
        until: gateway.clock.now(payment.mid) + LIMITS.challengeMs,
        holder: gateway.securityCodes.holder,
        // A sale over `/post` has the address of its payer; that of a session is known of the browser only.
        ...(payment.details.session && { sealed: sealAddress(gateway, payment.paymentId, browser.ip) }),
      },
    });
  }
  if (PROCEED.includes(authentication.transStatus))
    return submit(gateway, payment, account, { card, browser, authentication, threeDs, challenge });
  return declineUnauthenticated(
    gateway,
    payment,
    authentication,
    authenticationCall(authentication.transStatus, took()),
  );
}

/** If the directory does not answer, the card is submitted without a liability shift. Undefined if there is none to ask. */
async function authenticate(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  card: Card,
  browser: BrowserData,
  threeDs: ThreeDsRequest | undefined,
) {
  const currency = CURRENCIES[payment.currency];
  if (!gateway.threeDs || !currency) return undefined;
  try {
    return await gateway.threeDs.authenticate({
      transId: payment.paymentId,
      number: card.number.reveal(),
      expiry: card.year.slice(2) + card.month,
      amount: payment.amount,
      currency: currency.numeric,
      exponent: currency.exponent,
      at: Date.now(),
      merchantName: displayName(account),
      serverUrl: `${gateway.inboundUrl}/inbound/3ds`,
      requestorUrl: gateway.publicUrl,
      notificationUrl: `${gateway.publicUrl}/3ds/${linkOf(gateway, payment.paymentId)}`,
      browser,
      request: threeDs,
    });
  } catch (error) {
    gateway.log.warn({ err: error, payment_id: payment.paymentId }, 'the 3DS directory did not answer');
    return { kind: 'unanswered' } as const;
  }
}

export const declineUnauthenticated = (
  gateway: Gateway,
  payment: PaymentWithDetails,
  authentication: Authentication,
  call: CallRecord,
  onlyIf?: (payment: PaymentWithDetails) => boolean,
): Promise<PaymentWithDetails> =>
  advance(gateway, payment, {
    event: 'declined',
    actor: 'provider',
    call,
    authentication,
    onlyIf,
    declineReason: authentication.transStatus === 'R' ? REASONS.bankRejected : REASONS.notConfirmed,
  });
