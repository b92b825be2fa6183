/** Captures, voids and refunds of providers that carry them out after their answer. */
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type {
  Connector,
  NotificationMeaning,
  OperationOutcome,
  Outcome,
  Submission,
} from '../src/connectors/connector.ts';
import { Deadline } from '../src/lib/time/deadline.ts';
import { testOperation, testSubmission } from '../test/support/submissions.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhooks.ts';

const PATIENCE_MS = 60_000;
const STEP_MS = 1000;
const soon = (): Deadline => new Deadline(20_000);

/** The connector, whose operations return when the provider has carried them out: the books are compared after that. */
export const awaitingOutcomes = (connector: Connector): Connector => ({
  ...connector,
  async operate(operation, deadline) {
    let outcome: OperationOutcome = await connector.operate(operation, deadline);
    for (let waited = 0; outcome.kind === 'accepted' && waited < PATIENCE_MS; waited += STEP_MS) {
      const { operationReference, operationState = {} } = outcome;
      outcome = await connector.queryOperation({ ...operation, operationReference, operationState }, soon());
      if (outcome.kind === 'accepted') await setTimeout(STEP_MS);
    }
    return outcome;
  },
});

/** Declares tests that request each operation, and that read its webhook if webhooks are received. */
export function acceptsOperations(
  title: string,
  open: () => Connector,
  fields: () => Partial<Submission>,
  isWithWebhooks: boolean,
): void {
  test.each([
    ['capture', true],
    ['void', true],
    ['refund', false],
  ] as const)(`${title} accepts the request of a %s, and its webhook reports it`, async (verb, authoriseOnly) => {
    const receiver = isWithWebhooks ? await startWebhookReceiver() : undefined;
    const connector = open();
    const submission = testSubmission({ ...fields(), authoriseOnly });
    const outcome = await connector.submit(submission, soon());
    const { providerReference } = outcome as Exclude<Outcome, { kind: 'notFound' }>;
    expect(outcome.kind).toBe(authoriseOnly ? 'authorised' : 'settled');
    const operation = testOperation({ verb, amount: 400n, reference: submission.reference, providerReference });
    expect(await connector.operate(operation, soon())).toMatchObject({ kind: 'accepted' });
    if (receiver) {
      const meanings = await meaningsOf(receiver, connector, operation.operation);
      expect(meanings).toContainEqual(expect.objectContaining({ kind: 'operation', verb }));
      await receiver.close();
    }
    await connector.close?.();
  });
}

/** Waits for the webhook of an operation; some providers send it within minutes. */
async function meaningsOf(
  receiver: WebhookReceiver,
  connector: Connector,
  operation: string,
): Promise<NotificationMeaning[]> {
  for (let attempts = 0; attempts < 5; attempts++) {
    for (const { headers, body } of await receiver.take()) {
      const events = await connector.readNotifications(headers, body, Date.now());
      expect(events, 'the signature of a webhook').toBeDefined();
      const own = (events ?? []).filter((event) => event.operation === operation);
      if (own.length > 0)
        return own.map((event) => connector.interpretNotification(event.body, { authoriseOnly: false }));
    }
  }
  return [];
}
