/** The connector `stripe`: PaymentIntents, with cards that are entered at the gateway. */
import type { Deadline } from '../../lib/time/deadline.ts';
import { LIMITS } from '../../rules/limits.ts';
import {
  type Capabilities,
  type CheckResult,
  type ConnectionAccess,
  type Connector,
  type ConnectorDefinition,
  NotSent,
} from '../connector.ts';
import { warnOfUnshown } from '../payer-steps.ts';
import { createStripeClient, Refused, type StripeClient } from './client.ts';
import { UNHANDLED } from './events.ts';
import { createIntents } from './intents.ts';
import { UNSHOWN_METHODS } from './next-action.ts';
import { operate, queryOperation } from './operations.ts';
import { interpretNotification, webhookReader } from './webhooks.ts';

export const CAPABILITIES: Capabilities = {
  isIdempotent: true,
  supportsQueries: true,
  // A PaymentIntent that was not confirmed, and a page that no payer has the address of, count as not found.
  notFoundIsFinal: true,
  refunds: 'api',
  authentication: 'provider',
  // Stripe asks for exemptions by itself, if it may choose.
  threeDsRequests: { require_3ds: 'exact', skip_3ds: 'nearest', low_value: 'nearest', transaction_risk: 'nearest' },
  supportsWithdrawals: true,
  staysPayable: true,
  concurrency: LIMITS.providerConcurrency,
};

/** A telephone order is flagged when the card is confirmed, which the page of Stripe does by itself. */
const CARD_CAPABILITIES: Capabilities = { ...CAPABILITIES, supportsTelephoneOrders: true };

/** The methods of the configuration that is used for payments which name none. */
async function activeMethods(client: StripeClient, deadline: Deadline): Promise<string[] | undefined> {
  const { data } = await client.call(deadline, ({ paymentMethodConfigurations }) =>
    paymentMethodConfigurations.list({ limit: 100 }),
  );
  const used = data.find((each) => each.is_default && each.active && each.application === null);
  return used && Object.entries(used).flatMap(([name, method]) => (method?.available === true ? [name] : []));
}

async function check(client: StripeClient, deadline: Deadline): Promise<CheckResult> {
  try {
    const { livemode } = await client.call(deadline, ({ balance }) => balance.retrieve());
    return {
      ok: true,
      detail: `Stripe accepts the key, which is for ${livemode ? 'live' : 'test'} mode.`,
      // A restricted key may not be allowed to read them.
      activeMethods: await activeMethods(client, deadline).catch(() => undefined),
    };
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
    check: async (deadline) => warnOfUnshown(await check(client, deadline), access.settings, UNSHOWN_METHODS),
    close: client.close,
  };
}

export const stripe: ConnectorDefinition = {
  capabilities: CARD_CAPABILITIES,
  unhandled: UNHANDLED,
  create: (access) => ({ ...createBase(access, 'stripe'), capabilities: CARD_CAPABILITIES }),
};
