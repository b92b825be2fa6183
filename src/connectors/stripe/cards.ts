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
import { configurationOf } from './connect.ts';
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

/** The methods of the configuration that the settings name, or else of the one that Stripe uses; null if there is none. */
async function activeMethods(
  client: StripeClient,
  named: string | undefined,
  deadline: Deadline,
): Promise<string[] | null> {
  const { data } = await client.call(deadline, ({ paymentMethodConfigurations }) =>
    paymentMethodConfigurations.list({ limit: 100 }),
  );
  const used = data.find(
    ({ id, active, is_default: isDefault, application }) =>
      active && (named === undefined ? isDefault && application === null : id === named),
  );
  if (!used) return null;
  return Object.entries(used).flatMap(([name, method]) => (method?.available === true ? [name] : []));
}

async function check(
  client: StripeClient,
  settings: ConnectionAccess['settings'],
  deadline: Deadline,
): Promise<CheckResult> {
  const { payment_method_configuration: named } = configurationOf(settings);
  try {
    const { livemode } = await client.call(deadline, ({ balance }) => balance.retrieve());
    // A restricted key may not be allowed to read them.
    const active = await activeMethods(client, named, deadline).catch(() => undefined);
    if (active === null && named !== undefined)
      return { ok: false, detail: `The account has no active payment method configuration ${named}.` };
    return {
      ok: true,
      detail: `Stripe accepts the key, which is for ${livemode ? 'live' : 'test'} mode.`,
      activeMethods: active ?? undefined,
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
    ...createIntents(client, name, access.settings),
    operate: (operation, deadline) => operate(client, name, operation, deadline),
    queryOperation: (operation, deadline) => queryOperation(client, operation, deadline),
    readNotifications: webhookReader(access.credential('webhook_secret'), name),
    interpretNotification,
    check: async (deadline) =>
      warnOfUnshown(await check(client, access.settings, deadline), access.settings, UNSHOWN_METHODS),
    close: client.close,
  };
}

export const stripe: ConnectorDefinition = {
  capabilities: CARD_CAPABILITIES,
  unhandled: UNHANDLED,
  create: (access) => ({ ...createBase(access, 'stripe'), capabilities: CARD_CAPABILITIES }),
};
