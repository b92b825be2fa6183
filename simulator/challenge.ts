/** The challenge of 3-D Secure: the payer's code, the result message to the gateway, and the CRes of the browser. */
import { MESSAGE_VERSION } from './areq.ts';
import type { Authentication } from './card-ledger.ts';
import { type Challenge, cardBehaviour } from './cards.ts';
import { eciOf } from './eci.ts';
import type { Simulator } from './payments.ts';

/** The one-time code of every challenge. */
export const CODE = '1234';
const MAX_ATTEMPTS = 3;

interface ChallengeResult {
  transStatus: 'Y' | 'N';
  transStatusReason?: string;
  challengeCancel?: string;
}

const PASSED: ChallengeResult = { transStatus: 'Y' };
const FAILED: ChallengeResult = { transStatus: 'N', transStatusReason: '01' };
const TOO_MANY_ATTEMPTS: ChallengeResult = { transStatus: 'N', transStatusReason: '19' };
const CANCELLED: ChallengeResult = { transStatus: 'N', transStatusReason: '01', challengeCancel: '01' };

const challengeOf = ({ expiry }: Authentication): Challenge | undefined => {
  const { threeDS } = cardBehaviour(expiry);
  return threeDS?.transStatus === 'C' ? threeDS : undefined;
};

/** The authentication with this id, if it has a challenge. */
export function findChallenge({ ledger }: Simulator, acsTransID: string): Authentication | undefined {
  const found = ledger.authenticationByAcs(acsTransID);
  return found && challengeOf(found) ? found : undefined;
}

export const attemptsLeft = ({ attempts }: Authentication): number => MAX_ATTEMPTS - attempts;

/** The result of an answer: no code cancels; a wrong code has no result while attempts are left. */
function resultOf(authentication: Authentication, code: string | undefined): ChallengeResult | undefined {
  if (code === undefined) return CANCELLED;
  if (challengeOf(authentication)?.fails) return FAILED;
  if (code === CODE) return PASSED;
  return attemptsLeft(authentication) > 1 ? undefined : TOO_MANY_ATTEMPTS;
}

/** Processes the payer's answer; it has no effect once the challenge has a result. */
export async function answerChallenge(
  simulator: Simulator,
  acsTransID: string,
  code: string | undefined,
): Promise<void> {
  const { ledger, notifications } = simulator;
  ledger.transaction(() => {
    const authentication = ledger.authenticationByAcs(acsTransID) as Authentication;
    const result = resultOf(authentication, code);
    const attempts = authentication.attempts + (code === undefined ? 0 : 1);
    const isOpen = ledger.setAttempt({ acsTransID, attempts, result: result?.transStatus ?? null });
    if (isOpen && result) writeResult(simulator, { ...authentication, attempts }, result);
  });
  await notifications.send(acsTransID);
}

function writeResult({ notifications }: Simulator, authentication: Authentication, result: ChallengeResult): void {
  const { threeDSServerTransID, acsTransID, dsTransID, threeDSServerURL, first6, attempts } = authentication;
  const { resultCopies = 1, resultAfterMs = 0 } = challengeOf(authentication) as Challenge;
  if (resultCopies === 0) return;
  notifications.enqueue({
    reference: acsTransID,
    url: threeDSServerURL,
    body: {
      messageType: 'RReq',
      messageVersion: MESSAGE_VERSION,
      messageCategory: '01',
      threeDSServerTransID,
      acsTransID,
      dsTransID,
      authenticationType: '02',
      authenticationMethod: '02',
      ...result,
      eci: eciOf(first6, result.transStatus),
      interactionCounter: String(attempts).padStart(2, '0'),
    },
    copies: resultCopies,
    dueAt: Date.now() + resultAfterMs,
  });
}

/** The CRes that the payer's browser returns after the challenge. */
export function encodeCres(authentication: Authentication): string {
  const { threeDSServerTransID, acsTransID, result } = authentication;
  const cres = {
    messageType: 'CRes',
    messageVersion: MESSAGE_VERSION,
    threeDSServerTransID,
    acsTransID,
    transStatus: challengeOf(authentication)?.browserStatus ?? result,
  };
  return Buffer.from(JSON.stringify(cres)).toString('base64url');
}
