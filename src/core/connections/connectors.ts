/** Finds the connector of a payment: one of the installation, or that of a connection. */
import type { Capabilities, Connector } from '../../connectors/connector.ts';
import type { MaybePromise } from '../../lib/flow/maybe-promise.ts';
import { canHold, splitConnectionKey } from '../../rules/connectors.ts';
import type { PaymentWithDetails } from '../../store/payments/payments.ts';
import type { Gateway, RouteConnection } from '../context.ts';

/** The connector under its key; undefined if the installation has it no longer. */
export function connectorOf(gateway: Gateway, key: string): MaybePromise<Connector | undefined> {
  if (Object.hasOwn(gateway.connectors, key)) return gateway.connectors[key];
  const { connectionId } = splitConnectionKey(key);
  return connectionId === null ? undefined : gateway.connections.connector(key);
}

/** What the provider of a payment supports; all connections of a connector support the same. */
export const capabilitiesOf = (gateway: Gateway, key: string): Capabilities | undefined =>
  Object.hasOwn(gateway.connectors, key)
    ? gateway.connectors[key]?.capabilities
    : gateway.connections.capabilities(splitConnectionKey(key).connector);

/** Whether a brand can be authorised first and captured later at a connection, or at the installation's own provider. */
export const holdsBrand = (connection: RouteConnection | undefined, brand: string): boolean =>
  !connection || canHold(connection.connector, connection.methods[brand] ?? '');

/** Whether the payer of a card visits the page of the provider only for its 3DS authentication. */
export const authenticatesAtProvider = (gateway: Gateway, { connector, details }: PaymentWithDetails): boolean =>
  details.card !== undefined && capabilitiesOf(gateway, connector)?.authentication === 'provider';
