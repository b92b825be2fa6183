/** Creates the connectors that this installation has, by name. */
import type { ConnectorName } from '../rules/connectors.ts';
import { adyen } from './adyen/index.ts';
import { checkoutCom } from './checkout-com/index.ts';
import type { Connector, ConnectorDefinition } from './connector.ts';
import { mollie } from './mollie/index.ts';
import { paypal } from './paypal/index.ts';
import { createSimulatorControl, type Simulator } from './simulator-control.ts';
import { stripe } from './stripe/cards.ts';
import { stripeHosted } from './stripe/hosted.ts';
import { createThreeDs, type ThreeDs } from './three-ds.ts';
import { createUpstream, type ProviderAccess, upstream } from './upstream.ts';
import { createVcard, type Faults } from './vcard.ts';

export type { ProviderAccess } from './upstream.ts';

/** The connectors that connections can use, under their names in `CONNECTORS` of `src/rules/connectors.ts`. */
export const DEFINITIONS: Readonly<Partial<Record<ConnectorName, ConnectorDefinition>>> = {
  adyen,
  checkout: checkoutCom,
  mollie,
  paypal,
  stripe,
  'stripe-hosted': stripeHosted,
  upstream,
};

export interface Connectors {
  byName: Readonly<Record<string, Connector>>;
  /** The provider simulator, and whether faults are set; in the sandbox only. */
  simulator?: Simulator;
  faults?: Faults;
  threeDs?: ThreeDs;
  close(): Promise<void>;
}

/** Without a provider, the sandbox has the test connector only, and production has none. */
export function createConnectors(isSandbox: boolean, provider: ProviderAccess | undefined): Connectors {
  const own = provider && createUpstream(provider);
  const threeDs = provider && createThreeDs(provider);
  const close = async (): Promise<void> => {
    await Promise.all([own?.close(), threeDs?.close()]);
  };
  const offered = own ? { upstream: own } : {};
  if (!isSandbox) return { byName: offered, ...(threeDs && { threeDs }), close };
  if (!provider) return { byName: { ...offered, vcard: createVcard() }, close };
  const simulator = createSimulatorControl(provider);
  const faults: Faults = { areArmed: false, simulator };
  const vcard = createVcard({ faults, notificationSecret: provider.notificationSecret });
  return { byName: { ...offered, vcard }, simulator, faults, ...(threeDs && { threeDs }), close };
}
