/** Applies the result of a 3DS challenge, once, in the process that holds the security code of the card. */
import type { AuthenticationResult } from '../../connectors/three-ds.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { boundTo } from '../../lib/crypto/seal.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { NextStep, PaymentWithDetails } from '../../store/payments/payments.ts';
import { findAccount } from '../accounts/accounts.ts';
import { openCard } from '../cards/vault.ts';
import type { Account, Gateway } from '../context.ts';
import { screenedAgain } from '../risk/screen.ts';
import { authenticationCall, declineUnauthenticated } from './authenticate.ts';
import { isOutOfTime } from './deadlines.ts';
import { waitForPayment } from './find.ts';
import { endOutOfTime } from './provider.ts';
import { recordAuthentication } from './record.ts';
import { addressIn } from './secrets.ts';
import { submit } from './submit.ts';

type Challenge = Extract<NextStep, { kind: 'challenge' }>;

const challengeOf = ({ state, nextStep }: PaymentWithDetails): Challenge | undefined =>
  state === '3DS' && nextStep?.kind === 'challenge' ? nextStep : undefined;

/** Applies the first copy of a result and ignores further ones. Returns false if the result matches no challenge. */
export async function applyChallengeResult(gateway: Gateway, result: AuthenticationResult): Promise<boolean> {
  const { transId } = result;
  const payment = isUuid(transId) ? await gateway.payments.findAnywhere(transId) : undefined;
  const account = payment && (await findAccount(gateway, payment.mid));
  if (!payment || !account) return false;
  const challenge = challengeOf(payment);
  if (!challenge) return true;
  if (challenge.acsTransId !== result.acsTransId) return false;
  if (isOutOfTime(gateway, payment)) {
    gateway.securityCodes.take(payment.paymentId);
    await endOutOfTime(gateway, payment, account);
  } else if (!(await forwardToHolder(gateway, payment, challenge, result))) {
    await submitOrDecline(gateway, payment, account, challenge, result);
  }
  return true;
}

const PASSED: readonly string[] = ['Y', 'A'];

async function submitOrDecline(
  gateway: Gateway,
  payment: PaymentWithDetails,
  account: Account,
  challenge: Challenge,
  { authentication }: AuthenticationResult,
): Promise<void> {
  const call = authenticationCall(authentication.transStatus, 0);
  if (!PASSED.includes(authentication.transStatus)) {
    // Another result may have been applied first, and the card may be submitted already.
    const isInChallenge = (found: PaymentWithDetails): boolean => challengeOf(found) !== undefined;
    const declined = await declineUnauthenticated(gateway, payment, authentication, call, isInChallenge);
    if (declined.state === 'DECLINED') gateway.securityCodes.take(payment.paymentId);
    return;
  }
  // The card may be erased: then the payment has its outcome already.
  const card = payment.details.card && (await openCard(gateway, payment.mid, payment.details.card.id));
  const authenticated = card && (await recordAuthentication(gateway, payment, call, authentication));
  if (!authenticated) return;
  const cvv = gateway.securityCodes.take(payment.paymentId);
  const submitNow = (passed: PaymentWithDetails): Promise<PaymentWithDetails> =>
    submit(gateway, passed, account, { card: { ...card, cvv }, authentication });
  const seen = { number: card.number.reveal(), ip: addressIn(gateway, payment, challenge) };
  await screenedAgain(gateway, account, authenticated, seen, submitNow);
}

const boundToHolder = (holder: string): string => boundTo('3ds', 'result', holder);

/**
 * Forwards a result to the process that holds the security code; returns whether that process applied it. Nothing is
 * written for this: only the first process that records the result continues. If the holder has died or is too late,
 * the payment continues here without the security code.
 */
async function forwardToHolder(
  gateway: Gateway,
  payment: PaymentWithDetails,
  { holder }: Challenge,
  result: AuthenticationResult,
): Promise<boolean> {
  if (holder === undefined || holder === gateway.securityCodes.holder) return false;
  const sealed = gateway.seal.seal(JSON.stringify(result), boundToHolder(holder)).toString('base64');
  try {
    await gateway.installation.announceResult(holder, sealed);
  } catch (error) {
    gateway.log.warn(
      { err: error, payment_id: payment.paymentId },
      'challenge result could not be forwarded to another process',
    );
    return false;
  }
  const found = await waitForPayment(gateway, payment, LIMITS.takeoverTimeoutMs, (current) => !challengeOf(current));
  return found !== undefined && !challengeOf(found);
}

/** Another process forwarded a result; applies it if this process holds the security code. */
export async function receiveForwardedResult(gateway: Gateway, holder = '', sealed = ''): Promise<void> {
  if (holder !== gateway.securityCodes.holder) return;
  try {
    const result = gateway.seal.open(Buffer.from(sealed, 'base64'), boundToHolder(holder));
    await applyChallengeResult(gateway, JSON.parse(result));
  } catch (error) {
    gateway.log.error({ err: error }, 'forwarded challenge result could not be applied');
  }
}
