/** The 3DS directory: asks the card's bank whether the payer is who they say (EMV 3-D Secure 2, browser channel). */
import { Pool } from 'undici';
import { isObject, isText } from '../lib/json.ts';
import { withJsonBytes } from '../lib/wipe.ts';
import { LIMITS } from '../rules/limits.ts';
import type { Authentication } from './connector.ts';
import { notificationReader, type ProviderAccess } from './upstream.ts';

export const PROTOCOL_VERSION = '2.2.0';

/** What the bank needs to know to judge a payer. */
export interface AuthenticationRequest {
  /** Our id of the authentication, which the result comes back with. */
  transId: string;
  number: string;
  /** Year and month, as YYMM. */
  expiry: string;
  amount: bigint;
  /** The numeric code and the exponent of the currency. */
  currency: string;
  exponent: number;
  at: number;
  merchantName: string;
  serverUrl: string;
  requestorUrl: string;
  notificationUrl: string;
  browser: { ip: string; language: string; userAgent: string; accept: string };
}

export type AuthenticationAnswer =
  /** The card's bank does not take part. */
  | { kind: 'notEnrolled' }
  | { kind: 'answered'; authentication: Authentication }
  /** The payer has to go to the bank's page. */
  | { kind: 'challenge'; acsUrl: string; acsTransId: string; authentication: Authentication };

/** A result that the directory sent us, the only one that counts. */
export interface AuthenticationResult {
  transId: string;
  /** The challenge that it is the result of. */
  acsTransId: string | undefined;
  authentication: Authentication;
}

export interface ThreeDs {
  authenticate(request: AuthenticationRequest): Promise<AuthenticationAnswer>;
  /** Reads an RReq whose signature is right; nothing when it is not. */
  readResult(headers: Readonly<Record<string, unknown>>, body: Buffer, now: number): AuthenticationResult | undefined;
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

const textOf = (value: unknown, most = 512): string | undefined =>
  isText(value, most) && value !== '' ? value : undefined;

/** As long as the protocol lets an address be. */
const ADDRESS_LENGTH = 2048;

const readAuthentication = (message: Json): Authentication => ({
  transStatus: textOf(message.transStatus) ?? 'U',
  eci: textOf(message.eci),
  proof: textOf(message.authenticationValue),
  dsTransId: textOf(message.dsTransID),
  protocolVersion: textOf(message.messageVersion) ?? PROTOCOL_VERSION,
});

/** YYYYMMDDHHMMSS in UTC. */
const purchaseDate = (ms: number): string => new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14);

function areq(request: AuthenticationRequest): Json {
  return {
    messageType: 'AReq',
    messageVersion: PROTOCOL_VERSION,
    messageCategory: '01',
    deviceChannel: '02',
    threeDSCompInd: 'U',
    threeDSRequestorAuthenticationInd: '01',
    threeDSServerTransID: request.transId,
    threeDSServerURL: request.serverUrl,
    threeDSRequestorURL: request.requestorUrl,
    notificationURL: request.notificationUrl,
    acctNumber: request.number,
    cardExpiryDate: request.expiry,
    purchaseAmount: String(request.amount),
    purchaseCurrency: request.currency,
    purchaseExponent: String(request.exponent),
    purchaseDate: purchaseDate(request.at),
    merchantName: request.merchantName.slice(0, 40),
    mcc: '5999',
    browserAcceptHeader: request.browser.accept.slice(0, 2048) || '*/*',
    ...(request.browser.ip !== '' && { browserIP: request.browser.ip }),
    browserLanguage: request.browser.language.slice(0, 8) || 'en',
    browserUserAgent: request.browser.userAgent.slice(0, 2048) || 'unknown',
    browserJavascriptEnabled: false,
  };
}

export function createThreeDs(
  { url, key, notificationSecret }: ProviderAccess,
  outcomeTimeoutMs: number = LIMITS.directoryTimeoutMs,
): ThreeDs {
  const base = new URL(url);
  const path = `${base.pathname.replace(/\/$/, '')}/3ds/areq`;
  const pool = new Pool(base.origin, {
    connect: { timeout: LIMITS.providerConnectTimeoutMs },
    maxResponseSize: LIMITS.providerBytes,
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const read = notificationReader(notificationSecret, 'threeDSServerTransID');
  return {
    async authenticate(request) {
      const signal = AbortSignal.timeout(outcomeTimeoutMs);
      const { statusCode, body: answer } = await withJsonBytes(areq(request), (body) =>
        pool.request({ method: 'POST', path, headers, body, signal }),
      );
      if (statusCode === 404) {
        await answer.dump();
        return { kind: 'notEnrolled' };
      }
      const ares: unknown = statusCode === 200 ? await answer.json() : await answer.dump();
      if (!isObject(ares)) throw new Error(`The directory answered ${statusCode}.`);
      if (ares.messageType !== 'ARes' || ares.threeDSServerTransID !== request.transId) {
        throw new Error('The directory answered with something else than an ARes to our AReq.');
      }
      const authentication = readAuthentication(ares);
      if (authentication.transStatus !== 'C') return { kind: 'answered', authentication };
      const acsUrl = textOf(ares.acsURL, ADDRESS_LENGTH);
      const acsTransId = textOf(ares.acsTransID);
      if (acsUrl === undefined || !/^https?:\/\//.test(acsUrl) || acsTransId === undefined) {
        throw new Error('The directory wants a challenge and does not say where.');
      }
      return { kind: 'challenge', acsUrl, acsTransId, authentication };
    },
    readResult(given, bytes, now) {
      const notifications = read(given, bytes, now);
      if (notifications?.body.messageType !== 'RReq') return undefined;
      const { acsTransID } = notifications.body;
      return {
        transId: notifications.reference,
        acsTransId: textOf(acsTransID),
        authentication: readAuthentication(notifications.body),
      };
    },
    // Whoever closes has waited for the requests; a call that still runs is one that nobody waits for.
    close: () => pool.destroy(),
  };
}
