/** The test connector of the sandbox: has no provider; the identifier of the sale selects the outcome. */
import { classify } from '../rules/declines.ts';
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

/** The faults that are set in the provider simulator. */
export interface Faults {
  /** While false there are none, and the simulator is not called. */
  areArmed: boolean;
  simulator: Simulator;
}

/** The outcome of a call under each fault; a fault that is not listed does not change the outcome. */
const FAULT_OUTCOMES: Readonly<Record<string, (submission: Submission, fault: Record<string, unknown>) => Outcome>> = {
  timeout_before: throwUnanswered,
  timeout_after: throwUnanswered,
  error_500: throwUnanswered,
  decline: (_, { code, advice }) => ({
    kind: 'declined',
    reason: REASONS.testDecline,
    decline: classify('refusedByBank', { iso: textOf(code), advice: textOf(advice) }),
  }),
  late_success: () => ({ kind: 'declined', reason: REASONS.testDecline }),
  wrong_amount: (submission) => ({
    ...outcome(submission),
    reportedAmount: { amount: submission.amount + 1n, currency: submission.currency },
  }),
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function throwUnanswered(): never {
  throw new Error('The test connector did not answer, because a fault is set.');
}

async function outcomeWithFault(submission: Submission, faults: Faults): Promise<Outcome> {
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
  const faultOutcome = FAULT_OUTCOMES[String(body.mode)];
  return faultOutcome ? faultOutcome(submission, body) : outcome(submission);
}

/** `faults` and `notificationSecret` are set when the provider simulator is used. */
export function createVcard({
  faults,
  notificationSecret,
}: {
  faults?: Faults;
  notificationSecret?: string;
} = {}): Connector {
  const answer = (submission: Submission) =>
    faults?.areArmed ? outcomeWithFault(submission, faults) : outcome(submission);
  return {
    capabilities: {
      isIdempotent: true,
      supportsQueries: true,
      notFoundIsFinal: false,
      refunds: 'api',
      authentication: 'gateway',
    },
    submit: answer,
    // The outcome depends on the submission only, so a query computes it again.
    query: answer,
    operate: () => ({ kind: 'done' }),
    queryOperation: () => ({ kind: 'done' }),
    readNotifications: notificationSecret === undefined ? () => undefined : notificationReader(notificationSecret),
    interpretNotification,
  };
}
