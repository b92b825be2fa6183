/** The authentication value (CAVV) of a transaction: derived from its id, so that it is never stored. */
import { createHmac } from 'node:crypto';

const VALUE_BYTES = 20;

export type AuthenticationValueOf = (acsTransID: string) => string;

export const createAuthenticationValues =
  (secret: string): AuthenticationValueOf =>
  (acsTransID) =>
    createHmac('sha256', secret).update(acsTransID).digest().subarray(0, VALUE_BYTES).toString('base64');

export const hasAuthenticationValue = (transStatus: unknown): boolean => transStatus === 'Y' || transStatus === 'A';

/** Adds the authentication value to a result message, if its status has one. */
export function withAuthenticationValue(body: string, authenticationValueOf: AuthenticationValueOf): string {
  const message = JSON.parse(body);
  if (message.messageType !== 'RReq' || !hasAuthenticationValue(message.transStatus)) return body;
  return JSON.stringify({ ...message, authenticationValue: authenticationValueOf(message.acsTransID) });
}
