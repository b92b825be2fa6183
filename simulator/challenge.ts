/** What becomes of a challenge: the payer's answer, the result for the gateway, and what the browser carries back. */
import { MESSAGE_VERSION } from './areq.ts';
import type { Authentication } from './card-ledger.ts';
import { type Challenge, rowOf } from './cards.ts';
import { eciOf } from './eci.ts';
import type { Simulator } from './payments.ts';

/** The one-time code that every payer of the simulated bank is sent. */
export const CODE = '1234';
const TRIES = 3;

interface Verdict {
  transStatus: 'Y' | 'N';
  transStatusReason?: string;
  challengeCancel?: string;
}

const PASSED: Verdict = { transStatus: 'Y' };
const FAILED: Verdict = { transStatus: 'N', transStatusReason: '01' };
const TOO_OFTEN: Verdict = { transStatus: 'N', transStatusReason: '19' };
const CANCELLED: Verdict = { transStatus: 'N', transStatusReason: '01', challengeCancel: '01' };

const challengeOf = ({ expiry }: Authentication): Challenge | undefined => {
  const { threeDS } = rowOf(expiry);
  return threeDS?.transStatus === 'C' ? threeDS : undefined;
};

/** The transaction of this id, if its payer is or was to be challenged. */
export function challengedBy({ ledger }: Simulator, acsTransID: string): Authentication | undefined {
  const found = ledger.authenticationByAcs(acsTransID);
  return found && challengeOf(found) ? found : undefined;
}

export const triesLeft = ({ attempts }: Authentication): number => TRIES - attempts;

/** Without a code the payer cancels. Nothing is decided as long as there are tries left. */
function verdictOn(authentication: Authentication, code: string | undefined): Verdict | undefined {
  if (code === undefined) return CANCELLED;
  if (challengeOf(authentication)?.fails) return FAILED;
  if (code === CODE) return PASSED;
  return triesLeft(authentication) > 1 ? undefined : TOO_OFTEN;
}

/** The payer answers. Once it is decided, every further answer finds what was decided. */
export async function answerChallenge(
  simulator: Simulator,
  acsTransID: string,
  code: string | undefined,
): Promise<void> {
  const { ledger, notifications } = simulator;
  ledger.transaction(() => {
    const authentication = ledger.authenticationByAcs(acsTransID) as Authentication;
    const verdict = verdictOn(authentication, code);
    const attempts = authentication.attempts + (code === undefined ? 0 : 1);
    const isOpen = ledger.keepAttempt({ acsTransID, attempts, result: verdict?.transStatus ?? null });
    if (isOpen && verdict) writeResult(simulator, { ...authentication, attempts }, verdict);
  });
  await notifications.send(acsTransID);
}

function writeResult({ notifications }: Simulator, authentication: Authentication, verdict: Verdict): void {
  const { threeDSServerTransID, acsTransID, dsTransID, threeDSServerURL, first6, attempts } = authentication;
  const { resultCopies = 1, resultAfterMs = 0 } = challengeOf(authentication) as Challenge;
  if (resultCopies === 0) return;
  notifications.post({
    about: acsTransID,
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
      ...verdict,
      eci: eciOf(first6, verdict.transStatus),
      interactionCounter: String(attempts).padStart(2, '0'),
    },
    copies: resultCopies,
    dueAt: Date.now() + resultAfterMs,
  });
}

/** What the payer's browser carries back, once the challenge has ended. */
export function cresOf(authentication: Authentication): string {
  const { threeDSServerTransID, acsTransID, result } = authentication;
  const cres = {
    messageType: 'CRes',
    messageVersion: MESSAGE_VERSION,
    threeDSServerTransID,
    acsTransID,
    transStatus: challengeOf(authentication)?.claims ?? result,
  };
  return Buffer.from(JSON.stringify(cres)).toString('base64url');
}
