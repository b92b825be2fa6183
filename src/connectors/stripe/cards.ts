/** The connector `stripe`: PaymentIntents, with cards that are entered at the gateway. */
import type { Deadline } from '../../lib/deadline.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type Capabilities,
  type CheckResult,
  type ConnectionAccess,
  type Connector,
  type ConnectorDefinition,
  NotSent,
} from '../connector.ts';
import { createStripeClient, Refused, type StripeClient } from './client.ts';
import { createIntents } from './intents.ts';
import { operate, queryOperation } from './operations.ts';
import { interpretNotification, webhookReader } from './webhooks.ts';

export const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  supportsQueries: true,
  // A PaymentIntent that was not confirmed, and a page that no payer has the address of, count as not found.
  notFoundIsFinal: true,
  refunds: 'api',
  authentication: 'provider',
  concurrency: LIMITS.providerConcurrency,
};

async function check(client: StripeClient, deadline: Deadline): Promise<CheckResult> {
  try {
    const { livemode } = await client.call(deadline, ({ balance }) => balance.retrieve());
    return { ok: true, detail: `Stripe accepts the key, which is for ${livemode ? 'live' : 'test'} mode.` };
  } catch (error) {
    if (error instanceof NotSent || error instanceof Refused) return { ok: false, detail: error.message };
    throw error;
  }
}

/** What both connectors of Stripe share. */
export function createBase(access: ConnectionAccess, name: string): Connector & { client: StripeClient } {
  const client = createStripeClient(access);
  return {
    client,
    capabilities: CAPABILITIES,
    ...createIntents(client, name),
    operate: (operation, deadline) => operate(client, name, operation, deadline),
    queryOperation: (operation, deadline) => queryOperation(client, operation, deadline),
    readNotifications: webhookReader(access.credential('webhook_secret'), name),
    interpretNotification,
    check: (deadline) => check(client, deadline),
    close: client.close,
  };
}

export const stripe: ConnectorDefinition = {
  capabilities: CAPABILITIES,
  create: (access) => createBase(access, 'stripe'),
};
