/** What comes of a challenge: its result is applied once, by the process that keeps the code of the card. */
import type { AuthenticationResult } from '../../connectors/three-ds.ts';
import { isUuid } from '../../lib/id.ts';
import { boundTo } from '../../lib/seal.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { NextStep, WholePayment } from '../../store/payments.ts';
import { findAccount } from '../accounts.ts';
import type { Account, Gateway } from '../context.ts';
import { openCard } from '../vault.ts';
import { authenticationCall, decline } from './authenticate.ts';
import { isOutOfTime } from './deadlines.ts';
import { waitForPayment } from './find.ts';
import { endOutOfTime, submit } from './provider.ts';
import { recordAuthentication } from './record.ts';

type Challenge = Extract<NextStep, { kind: 'challenge' }>;

const challengeOf = ({ state, nextStep }: WholePayment): Challenge | undefined =>
  state === '3DS' && nextStep?.kind === 'challenge' ? nextStep : undefined;

/** Applies the result of a challenge; whichever copy comes first counts, and once. False when it is none of ours. */
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
  } else if (!(await forwardToHolder(gateway, payment, challenge, result)))
    await progress(gateway, payment, account, result);
  return true;
}

/** After a challenge only a payer who passed it goes on. */
const PASSED: readonly string[] = ['Y', 'A'];

async function progress(
  gateway: Gateway,
  payment: WholePayment,
  account: Account,
  { authentication }: AuthenticationResult,
): Promise<void> {
  const record = authenticationCall(authentication.transStatus, 0);
  if (!PASSED.includes(authentication.transStatus)) {
    // Another result may have come first, and the card be on its way.
    const isAtBank = (found: WholePayment): boolean => challengeOf(found) !== undefined;
    const declined = await decline(gateway, payment, authentication, record, isAtBank);
    if (declined.state === 'DECLINED') gateway.securityCodes.take(payment.paymentId);
    return;
  }
  // Once the payment has its outcome, its card may be erased, and there is nothing to go on with.
  const card = payment.details.card && (await openCard(gateway, payment.mid, payment.details.card.id));
  const authenticated = card && (await recordAuthentication(gateway, payment, record, authentication));
  if (!authenticated) return;
  const cvv = gateway.securityCodes.take(payment.paymentId);
  await submit(gateway, authenticated, account, { card: { ...card, cvv }, authentication });
}

const sealedFor = (holder: string): string => boundTo('3ds', 'result', holder);

/**
 * Leaves a result to the process that keeps the code of the card; true when it has gone on. Nothing is written for that:
 * whoever notes the result first goes on, so a process that has died, or hears of it too late, costs the code and
 * nothing else.
 */
async function forwardToHolder(
  gateway: Gateway,
  payment: WholePayment,
  { holder }: Challenge,
  result: AuthenticationResult,
): Promise<boolean> {
  if (holder === undefined || holder === gateway.securityCodes.holder) return false;
  const sealed = gateway.seal.seal(JSON.stringify(result), sealedFor(holder)).toString('base64');
  try {
    await gateway.installation.announceResult(holder, sealed);
  } catch (error) {
    gateway.log.warn(
      { err: error, payment_id: payment.paymentId },
      'the result of a challenge could not be handed over',
    );
    return false;
  }
  const found = await waitForPayment(gateway, payment, LIMITS.takeOverTimeoutMs, (current) => !challengeOf(current));
  return found !== undefined && !challengeOf(found);
}

/** Another process has heard a result; if the code is here, this one goes on with it. */
export async function receiveForwardedResult(gateway: Gateway, holder = '', sealed = ''): Promise<void> {
  if (holder !== gateway.securityCodes.holder) return;
  try {
    await applyChallengeResult(
      gateway,
      JSON.parse(gateway.seal.open(Buffer.from(sealed, 'base64'), sealedFor(holder))),
    );
  } catch (error) {
    gateway.log.error({ err: error }, 'the result of a challenge could not be taken over');
  }
}
