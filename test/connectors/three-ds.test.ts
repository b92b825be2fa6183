/** The client of the 3DS directory accepts only an answer to its own request, in time. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthenticationRequest, createThreeDs, type ThreeDs } from '../../src/connectors/three-ds.ts';
import { newId } from '../../src/lib/crypto/id.ts';

let answer: (response: ServerResponse) => void;
const requests: Record<string, unknown>[] = [];
const server = createServer(async (request, response) => {
  const bytes: Buffer[] = [];
  for await (const part of request) bytes.push(part);
  requests.push(JSON.parse(Buffer.concat(bytes).toString()));
  answer(response);
});
let threeDs: ThreeDs;
/** With a short timeout, for answers that do not come. */
let impatient: ThreeDs;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { url, key: 'key', notificationSecret: 'c2VjcmV0' };
  threeDs = createThreeDs(access, 60_000);
  impatient = createThreeDs(access, 500);
});
afterAll(async () => {
  await threeDs.close();
  await impatient.close();
  server.closeAllConnections();
  server.close();
});

const TRANS_ID = newId();
const request: AuthenticationRequest = {
  transId: TRANS_ID,
  ...{ number: '4111111111111111', expiry: '3805', amount: 1000n, currency: '978', exponent: 2 },
  ...{ at: Date.UTC(2026, 10, 15, 5, 24), merchantName: 'Demo Shop', serverUrl: 'https://pay.example/inbound/3ds' },
  ...{ requestorUrl: 'https://pay.example', notificationUrl: 'https://pay.example/3ds/x' },
  browser: { ip: '203.0.113.7', language: 'en', userAgent: 'Browser', accept: 'text/html' },
};
const ARES = {
  ...{ messageType: 'ARes', messageVersion: '2.2.0', threeDSServerTransID: TRANS_ID, transStatus: 'Y' },
  ...{ eci: '05', authenticationValue: 'proof', dsTransID: 'ds', acsTransID: 'acs' },
};
const authenticateWith = (ares: object) => {
  answer = (response) => response.end(JSON.stringify(ares));
  return threeDs.authenticate(request);
};

test('accepts the ARes of our AReq', async () => {
  expect(await authenticateWith(ARES)).toEqual({
    kind: 'answered',
    authentication: { transStatus: 'Y', eci: '05', proof: 'proof', dsTransId: 'ds', protocolVersion: '2.2.0' },
  });
  expect(requests.at(-1)).toMatchObject({ messageType: 'AReq', threeDSServerTransID: TRANS_ID });
});

test.each([
  [{ requested: 'challenge', reason: 'require_3ds' }, '04'],
  [{ requested: 'none', reason: 'low_value' }, '02'],
  [{ requested: 'none', reason: 'transaction_risk' }, '05'],
  [{ requested: null, reason: null }, undefined],
  [undefined, undefined],
] as const)('what a risk rule asks the issuer for: %j', async (asked, indicator) => {
  answer = (response) => response.end(JSON.stringify(ARES));
  await threeDs.authenticate({ ...request, request: asked });
  expect(requests.at(-1)?.threeDSRequestorChallengeInd).toBe(indicator);
});

test.each<[string, object]>([
  ['the ARes of another AReq', { ...ARES, threeDSServerTransID: newId() }],
  ['an ARes without a transaction id', { ...ARES, threeDSServerTransID: undefined }],
  ['an error', { messageType: 'Erro', threeDSServerTransID: TRANS_ID, errorCode: '101' }],
  ['a result', { ...ARES, messageType: 'RReq' }],
  ['a list', [ARES]],
  ['a challenge without an acsURL', { ...ARES, transStatus: 'C' }],
  ['a challenge with a script as acsURL', { ...ARES, transStatus: 'C', acsURL: 'javascript:alert(1)' }],
])('rejects %s', async (_, ares) => {
  await expect(authenticateWith(ares)).rejects.toThrow(/directory/);
});

test('accepts an acsURL of the maximum length', async () => {
  const acsURL = `https://bank.example/${'x'.repeat(2048 - 'https://bank.example/'.length)}`;
  expect(await authenticateWith({ ...ARES, transStatus: 'C', acsURL })).toMatchObject({
    kind: 'challenge',
    acsUrl: acsURL,
  });
  await expect(authenticateWith({ ...ARES, transStatus: 'C', acsURL: `${acsURL}x` })).rejects.toThrow(/directory/);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['never starts', () => undefined],
  ['never ends', (response) => void response.write('{"messageType":')],
  [
    'comes byte by byte',
    (response) => {
      const drops = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drops));
    },
  ],
])('times out if the answer %s', async (_, behaviour) => {
  answer = behaviour;
  await expect(impatient.authenticate(request)).rejects.toThrow();
});
