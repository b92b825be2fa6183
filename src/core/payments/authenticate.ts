/** Authenticates the payer of a card by 3-D Secure before the card is submitted. */
import type { Authentication, BrowserData } from '../../connectors/connector.ts';
import { CURRENCIES } from '../../rules/currencies.ts';
import { LIMITS } from '../../rules/limits.ts';
import { REASONS } from '../../rules/reasons.ts';
import type { CallRecord, PaymentWithDetails } from '../../store/payments.ts';
import { displayName } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import type { Card } from '../vault.ts';
import { advance } from './advance.ts';
import { capabilitiesOf } from './connectors.ts';
import { linkOf } from './links.ts';
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

/** Authenticates the payer, then submits the card, declines the payment, or starts a challenge. */
export async function payByCard(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  card: Card,
  browser: BrowserData,
): Promise<PaymentWithDetails> {
  const isAuthenticatedThere = capabilitiesOf(gateway, payment.connector)?.authentication === 'provider';
  if (!isAuthenticatedThere) return authenticateAndSubmit(gateway, payment, account, card, browser);
  return submit(gateway, payment, account, { card, browser }, (next) =>
    authenticateAndSubmit(gateway, next, account, card, browser),
  );
}

async function authenticateAndSubmit(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  card: Card,
  browser: BrowserData,
): Promise<PaymentWithDetails> {
  const started = performance.now();
  const took = (): number => Math.round(performance.now() - started);
  const answer = await authenticate(gateway, payment, account, card, browser);
  if (answer === undefined || answer.kind === 'notEnrolled')
    return submit(gateway, payment, account, { card, browser });
  const { authentication } = answer;
  if (answer.kind === 'challenge') {
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
      },
    });
  }
  if (PROCEED.includes(authentication.transStatus))
    return submit(gateway, payment, account, { card, browser, authentication });
  return declineUnauthenticated(
    gateway,
    payment,
    authentication,
    authenticationCall(authentication.transStatus, took()),
  );
}

/** Undefined if the directory does not answer: the card is then submitted without a liability shift. */
async function authenticate(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  card: Card,
  browser: BrowserData,
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
    });
  } catch (error) {
    gateway.log.warn({ err: error, payment_id: payment.paymentId }, 'the 3DS directory did not answer');
    return undefined;
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
