/** The client of the 3DS directory server: authenticates the payer of a card (EMV 3-D Secure 2, browser channel). */
import { Pool } from 'undici';
import { withJsonBytes } from '../lib/crypto/wipe.ts';
import { cut } from '../lib/text/cut.ts';
import { isObject, isText } from '../lib/text/json.ts';
import { LIMITS } from '../rules/limits.ts';
import type { ThreeDsRequest } from '../rules/risk/actions.ts';
import type { Authentication } from './connector.ts';
import { type ProviderAccess, signedMessageReader } from './upstream.ts';

export const PROTOCOL_VERSION = '2.2.0';

export interface AuthenticationRequest {
  /** Our id of the authentication (`threeDSServerTransID`); the result carries it, too. */
  transId: string;
  number: string;
  /** Year and month, as YYMM. */
  expiry: string;
  amount: bigint;
  /** The numeric code of the currency (ISO 4217). */
  currency: string;
  exponent: number;
  at: number;
  merchantName: string;
  serverUrl: string;
  requestorUrl: string;
  notificationUrl: string;
  browser: { ip: string; language: string; userAgent: string; accept: string };
  /** What a risk rule asks the issuer for. */
  request?: ThreeDsRequest | undefined;
}

export type AuthenticationAnswer =
  /** The issuer does not support 3DS. */
  | { kind: 'notEnrolled' }
  | { kind: 'answered'; authentication: Authentication }
  /** The payer has to authenticate on the issuer's page (ACS). */
  | { kind: 'challenge'; acsUrl: string; acsTransId: string; authentication: Authentication };

/** The result of a challenge as the directory sent it (RReq); what the payer's browser brings is not trusted. */
export interface AuthenticationResult {
  transId: string;
  /** The id of the challenge. */
  acsTransId: string | undefined;
  authentication: Authentication;
}

export interface ThreeDs {
  authenticate(request: AuthenticationRequest): Promise<AuthenticationAnswer>;
  /** Reads an RReq and verifies its signature; undefined if it is not valid. */
  readResult(headers: Readonly<Record<string, unknown>>, body: Buffer, now: number): AuthenticationResult | undefined;
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

const textOf = (value: unknown, most = 512): string | undefined =>
  isText(value, most) && value !== '' ? value : undefined;

/** The longest URL that the protocol allows. */
const MAX_URL_LENGTH = 2048;

const readAuthentication = (message: Json): Authentication => ({
  transStatus: textOf(message.transStatus) ?? 'U',
  eci: textOf(message.eci),
  proof: textOf(message.authenticationValue),
  dsTransId: textOf(message.dsTransID),
  protocolVersion: textOf(message.messageVersion) ?? PROTOCOL_VERSION,
});

/** YYYYMMDDHHMMSS in UTC. */
const purchaseDate = (ms: number): string => new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14);

/** A challenge as a mandate; no challenge because of a risk analysis; no challenge. */
const challengeIndicator = ({ requested, reason }: ThreeDsRequest): string => {
  if (requested === 'challenge') return '04';
  return reason === 'transaction_risk' ? '05' : '02';
};

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
    merchantName: cut(request.merchantName, 40),
    mcc: '5999',
    browserAcceptHeader: request.browser.accept.slice(0, 2048) || '*/*',
    ...(request.browser.ip !== '' && { browserIP: request.browser.ip }),
    browserLanguage: request.browser.language.slice(0, 8) || 'en',
    browserUserAgent: request.browser.userAgent.slice(0, 2048) || 'unknown',
    browserJavascriptEnabled: false,
    ...(request.request?.requested && { threeDSRequestorChallengeInd: challengeIndicator(request.request) }),
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
  const read = signedMessageReader(notificationSecret, 'threeDSServerTransID');
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
        throw new Error('The directory did not answer with the ARes of our AReq.');
      }
      const authentication = readAuthentication(ares);
      if (authentication.transStatus !== 'C') return { kind: 'answered', authentication };
      const acsUrl = textOf(ares.acsURL, MAX_URL_LENGTH);
      const acsTransId = textOf(ares.acsTransID);
      if (acsUrl === undefined || !/^https?:\/\//.test(acsUrl) || acsTransId === undefined) {
        throw new Error('The directory requires a challenge, but its ARes has no valid acsURL or acsTransID.');
      }
      return { kind: 'challenge', acsUrl, acsTransId, authentication };
    },
    readResult(requestHeaders, bytes, now) {
      const notification = read(requestHeaders, bytes, now);
      if (notification?.body.messageType !== 'RReq') return undefined;
      const { acsTransID } = notification.body;
      return {
        transId: notification.reference,
        acsTransId: textOf(acsTransID),
        authentication: readAuthentication(notification.body),
      };
    },
    // At shutdown all requests have ended, so no request waits for a call that is still in flight.
    close: () => pool.destroy(),
  };
}
