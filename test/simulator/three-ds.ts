/** A 3DS server and a payer's browser for tests; they share no code with the simulator. */
import { randomUUID } from 'node:crypto';
import type { Answer, ReceivedMessage, TestSimulator } from './test-simulator.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Decodes base64url; the unused bits at the end must be zero. */
export function fromBase64url(text: string): string {
  const bits = [...text].map((letter) => {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) throw new Error(`${letter} is no letter of base64url.`);
    return value.toString(2).padStart(6, '0');
  });
  const all = bits.join('');
  const whole = all.slice(0, all.length - (all.length % 8));
  if (/1/.test(all.slice(whole.length))) throw new Error('There are bits left over.');
  const bytes = (whole.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
}

export function toBase64url(text: string): string {
  const all = [...new TextEncoder().encode(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (all.match(/.{1,6}/g) ?? []).map((six) => ALPHABET[Number.parseInt(six.padEnd(6, '0'), 2)]).join('');
}

/** A card number with this prefix and a valid check digit. */
export function cardNumber(prefix: string, length = 16): string {
  const digits = prefix.padEnd(length - 1, '0');
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const weighed = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (weighed > 9 ? weighed - 9 : weighed);
  }, 0);
  return digits + String((10 - (sum % 10)) % 10);
}

export const VISA = '4111111111111111';

type Fields = Record<string, unknown>;

/** `05/38` in the format of an AReq. */
const areqExpiry = (expiry: string): string => expiry.split('/').reverse().join('');

/** A complete AReq; `fields` override the defaults. */
export const areqOf = (simulator: TestSimulator, expiry: string, fields: Fields = {}): Fields => ({
  messageType: 'AReq',
  messageVersion: '2.2.0',
  messageCategory: '01',
  deviceChannel: '02',
  threeDSServerTransID: randomUUID(),
  threeDSServerURL: simulator.receiver.url,
  threeDSRequestorURL: 'https://pay.example.com',
  notificationURL: 'https://pay.example.com/3ds/1',
  acctNumber: VISA,
  cardExpiryDate: areqExpiry(expiry),
  purchaseAmount: '1000',
  purchaseCurrency: '978',
  purchaseExponent: '2',
  purchaseDate: '20261115052400',
  merchantName: 'Demo Shop',
  mcc: '5999',
  browserAcceptHeader: 'text/html',
  browserIP: '203.0.113.7',
  browserLanguage: 'en',
  browserUserAgent: 'Mozilla/5.0',
  browserJavaEnabled: false,
  browserJavascriptEnabled: false,
  ...fields,
});

export const sendAreq = (simulator: TestSimulator, expiry: string, fields: Fields = {}): Promise<Answer> =>
  simulator.call('POST', '/3ds/areq', areqOf(simulator, expiry, fields));

export interface Page {
  status: number;
  text: string;
  policy: string;
}

async function post(url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
  return {
    status: response.status,
    text: await response.text(),
    policy: response.headers.get('content-security-policy') ?? '',
  };
}

export const creqOf = (ares: Answer['body'], fields: Fields = {}): Fields => ({
  messageType: 'CReq',
  messageVersion: '2.2.0',
  threeDSServerTransID: ares.threeDSServerTransID,
  acsTransID: ares.acsTransID,
  challengeWindowSize: '05',
  ...fields,
});

/** The browser posts this text as the CReq. */
export const postCreq = (simulator: TestSimulator, creq: string, sessionData?: string): Promise<Page> =>
  post(`${simulator.url}/3ds/acs`, { creq, ...(sessionData !== undefined && { threeDSSessionData: sessionData }) });

export const openChallenge = (
  simulator: TestSimulator,
  ares: Answer['body'],
  sessionData = 'c2Vzc2lvbg',
): Promise<Page> => postCreq(simulator, toBase64url(JSON.stringify(creqOf(ares))), sessionData);

export const answerChallenge = (
  simulator: TestSimulator,
  { acsTransID }: Answer['body'],
  form: Record<string, string>,
  headers?: Record<string, string>,
): Promise<Page> => post(`${simulator.url}/3ds/acs/${acsTransID}`, form, headers);

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The action and the hidden fields of the form on a page. */
export function formOf({ text }: Page) {
  const action = unescaped(/<form method="post" action="([^"]*)">/.exec(text)?.[1] ?? '');
  const inputs = text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g);
  const values: Record<string, string> = Object.fromEntries(
    [...inputs].map(([, name, value]) => [name, unescaped(value as string)]),
  );
  return { action, values, cres: values.cres === undefined ? undefined : JSON.parse(fromBase64url(values.cres)) };
}

/** The result messages (RReq) of a transaction. */
export const resultsOf = (simulator: TestSimulator, { acsTransID }: Answer['body']): ReceivedMessage[] =>
  simulator.receiver.received.filter(({ body }) => body.acsTransID === acsTransID);

/** Runs a challenge: AReq, CReq, then the payer's answers. */
export async function runChallenge(
  simulator: TestSimulator,
  expiry: string,
  forms: Record<string, string>[],
  fields: Fields = {},
) {
  const { body: ares } = await sendAreq(simulator, expiry, fields);
  const pages = [await openChallenge(simulator, ares)];
  for (const form of forms) pages.push(await answerChallenge(simulator, ares, form));
  return { ares, pages, last: pages.at(-1) as Page };
}
