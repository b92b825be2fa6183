/** The test connector: nobody is behind it, the identifier of the sale selects the outcome. */
import { REASONS } from '../rules/reasons.ts';
import type { Connector, Outcome, Submission } from './connector.ts';
import type { Simulator } from './simulator-control.ts';
import { interpretNotification, notificationReader } from './upstream.ts';

function outcome({ identifier, authoriseOnly, setting }: Submission): Outcome {
  if ((setting('vcard.success') as readonly string[]).includes(identifier)) {
    return { kind: authoriseOnly ? 'authorised' : 'settled' };
  }
  return { kind: 'declined', reason: REASONS.testDecline };
}

/** Faults that the sandbox was asked for; there are some only while `areArmed`. */
export interface Faults {
  areArmed: boolean;
  simulator: Simulator;
}

/** What a call comes to under each fault; the ones that are not here change nothing in an answer. */
const MISBEHAVIOURS: Readonly<Record<string, (submission: Submission) => Outcome>> = {
  timeout_before: dead,
  timeout_after: dead,
  error_500: dead,
  late_success: () => ({ kind: 'declined', reason: REASONS.testDecline }),
  wrong_amount: (submission) => ({
    ...outcome(submission),
    reported: { amount: submission.amount + 1n, currency: submission.currency },
  }),
};

function dead(): never {
  throw new Error('The line to the test connector went dead, as it was asked to.');
}

async function misbehave(submission: Submission, faults: Faults): Promise<Outcome> {
  const { mid, brand, reference, amount, currency, notifyUrl } = submission;
  const { body } = await faults.simulator.control('POST', '/faults/take', {
    mid,
    brand,
    reference,
    amount: String(amount),
    currency,
    notify_url: notifyUrl,
  });
  if (body.left === 0) faults.areArmed = false;
  const misbehaviour = MISBEHAVIOURS[String(body.mode)];
  return misbehaviour ? misbehaviour(submission) : outcome(submission);
}

/** `faults` and `notificationSecret` come with the provider simulator. */
export function createVcard({
  faults,
  notificationSecret,
}: {
  faults?: Faults;
  notificationSecret?: string;
} = {}): Connector {
  const answer = (submission: Submission) => (faults?.areArmed ? misbehave(submission, faults) : outcome(submission));
  return {
    capabilities: { isIdempotent: true, supportsQueries: true, notFoundIsFinal: false, refunds: 'api' },
    submit: answer,
    // The outcome follows from the submission alone, so it can be told at any later time as well.
    query: answer,
    operate: () => ({ kind: 'done' }),
    queryOperation: () => ({ kind: 'done' }),
    readNotification: notificationSecret === undefined ? () => undefined : notificationReader(notificationSecret),
    interpretNotification,
  };
}
