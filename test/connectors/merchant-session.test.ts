/** The merchant session of wallet-a: the client certificate is shown to the vendor's hosts only. */
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isVendorAddress, requestMerchantSession } from '../../src/connectors/merchant-session.ts';
import { callbackReach } from '../../src/rules/callback-address.ts';
import { LIMITS } from '../../src/rules/limits.ts';
import { selfSigned } from '../support/certificate.ts';

test.each([
  'https://apple-pay-gateway.apple.com/paymentservices/startSession',
  'https://apple-pay-gateway-cert.apple.com/paymentservices/paymentSession',
  'https://apple-pay-gateway-nc-pod1.apple.com/paymentservices/startSession',
  'https://apple-pay-gateway-pr-pod5-dr.apple.com/paymentservices/startSession',
  'https://cn-apple-pay-gateway.apple.com/paymentservices/paymentSession',
  'https://cn-apple-pay-gateway-sh-pod1.apple.com/paymentservices/startSession',
  'https://cn-apple-pay-gateway-cert.apple.com/paymentservices/startSession',
])('%s is the vendor', (url) => expect(isVendorAddress(url)).toBe(true));

test.each([
  '',
  'x',
  'http://apple-pay-gateway.apple.com/paymentservices/startSession',
  'https://apple-pay-gateway.apple.com:8443/paymentservices/startSession',
  'https://apple-pay-gateway.apple.com/other',
  'https://apple-pay-gateway.apple.com/paymentservices/../other',
  'https://apple-pay-gateway.apple.com.evil.example/paymentservices/startSession',
  'https://evil.example/apple-pay-gateway.apple.com/paymentservices/startSession',
  'https://apple-pay-gateway.apple.com@evil.example/paymentservices/startSession',
  'https://me:secret@apple-pay-gateway.apple.com/paymentservices/startSession',
  'https://apple-pay-gateway-.apple.com/paymentservices/startSession',
  'https://apple-pay-gatewayx.apple.com/paymentservices/startSession',
  'https://x-apple-pay-gateway.apple.com/paymentservices/startSession',
  'https://apple-pay-gateway.x.apple.com/paymentservices/startSession',
  'https://www.apple.com/paymentservices/startSession',
  'https://127.0.0.1/paymentservices/startSession',
  'https://[::1]/paymentservices/startSession',
  'file:///paymentservices/startSession',
  `https://apple-pay-gateway.apple.com/paymentservices/${'x'.repeat(5000)}`,
])('%s is not the vendor', (url) => expect(isVendorAddress(url)).toBe(false));

const NAME = 'apple-pay-gateway-cert.apple.com';
const vendor = selfSigned([NAME]);
const merchant = selfSigned(['merchant identity']);
const CONTENT = {
  merchantIdentifier: 'merchant.example.shop',
  displayName: 'Tea Shop',
  initiative: 'web',
  initiativeContext: 'pay.example',
} as const;

let server: Server;
let answer = { status: 200, body: '{"nonce":"1"}' };
const seen: { name: unknown; body: string }[] = [];

const bodyOf = async (request: IncomingMessage): Promise<string> =>
  (await request.setEncoding('utf8').toArray()).join('');

beforeAll(async () => {
  const options = {
    key: vendor.key,
    cert: vendor.cert,
    requestCert: true,
    rejectUnauthorized: true,
    ca: merchant.cert,
  };
  server = createServer(options, async (request, response) => {
    seen.push({
      name: (request.socket as TLSSocket).getPeerCertificate().subject.CN,
      body: await bodyOf(request),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());

const here: LookupFunction = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
const url = (): string => `https://${NAME}:${(server.address() as AddressInfo).port}/paymentservices/startSession`;
const ask = (reach = callbackReach(true, [])) =>
  requestMerchantSession(url(), CONTENT, {
    ...reach,
    lookup: here,
    identity: { cert: merchant.cert, key: merchant.key, ca: vendor.cert },
  });

test('presents the merchant identity, and returns the session', async () => {
  expect(await ask()).toEqual({ nonce: '1' });
  expect(seen.splice(0)).toEqual([{ name: 'merchant identity', body: JSON.stringify(CONTENT) }]);
});

test('does not connect to a private address', async () => {
  await expect(ask(callbackReach(false, []))).rejects.toThrow('private');
  expect(seen).toEqual([]);
});

test.each([
  ['another status', { status: 417, body: '{"statusCode":"417"}' }],
  ['no JSON', { status: 200, body: 'OK' }],
  ['no object', { status: 200, body: '[]' }],
  ['too much', { status: 200, body: `{"a":"${'x'.repeat(LIMITS.merchantSessionBytes)}"}` }],
])('%s is no session', async (_, given) => {
  answer = given;
  await expect(ask()).rejects.toThrow();
});
