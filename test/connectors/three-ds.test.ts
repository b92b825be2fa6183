/** What the directory answers is believed only if it is an answer to our question, and comes in time. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthenticationRequest, createThreeDs, type ThreeDs } from '../../src/connectors/three-ds.ts';
import { newId } from '../../src/lib/id.ts';

let answer: (response: ServerResponse) => void;
const asked: Record<string, unknown>[] = [];
const server = createServer(async (request, response) => {
  const bytes: Buffer[] = [];
  for await (const part of request) bytes.push(part);
  asked.push(JSON.parse(Buffer.concat(bytes).toString()));
  answer(response);
});
let threeDs: ThreeDs;
/** Waits only a moment, for answers that do not come. */
let hurried: ThreeDs;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { url, key: 'key', notificationSecret: 'c2VjcmV0' };
  threeDs = createThreeDs(access, 60_000);
  hurried = createThreeDs(access, 500);
});
afterAll(async () => {
  await threeDs.close();
  await hurried.close();
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
const ask = (ares: object) => {
  answer = (response) => response.end(JSON.stringify(ares));
  return threeDs.authenticate(request);
};

test('an ARes to our AReq is believed', async () => {
  expect(await ask(ARES)).toEqual({
    kind: 'answered',
    authentication: { transStatus: 'Y', eci: '05', proof: 'proof', dsTransId: 'ds', protocolVersion: '2.2.0' },
  });
  expect(asked.at(-1)).toMatchObject({ messageType: 'AReq', threeDSServerTransID: TRANS_ID });
});

test.each<[string, object]>([
  ['an ARes of somebody else', { ...ARES, threeDSServerTransID: newId() }],
  ['an ARes of nobody', { ...ARES, threeDSServerTransID: undefined }],
  ['an error', { messageType: 'Erro', threeDSServerTransID: TRANS_ID, errorCode: '101' }],
  ['a result', { ...ARES, messageType: 'RReq' }],
  ['a list', [ARES]],
  ['a challenge that is nowhere', { ...ARES, transStatus: 'C' }],
  ['a challenge that is a script', { ...ARES, transStatus: 'C', acsURL: 'javascript:alert(1)' }],
])('%s is no answer', async (_, ares) => {
  await expect(ask(ares)).rejects.toThrow(/directory/);
});

test('the address of a bank may be as long as the protocol allows', async () => {
  const acsURL = `https://bank.example/${'x'.repeat(2048 - 'https://bank.example/'.length)}`;
  expect(await ask({ ...ARES, transStatus: 'C', acsURL })).toMatchObject({ kind: 'challenge', acsUrl: acsURL });
  await expect(ask({ ...ARES, transStatus: 'C', acsURL: `${acsURL}x` })).rejects.toThrow(/directory/);
});

test.each<[string, (response: ServerResponse) => void]>([
  ['never begins', () => undefined],
  ['never ends', (response) => void response.write('{"messageType":')],
  [
    'comes drop by drop',
    (response) => {
      const drops = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drops));
    },
  ],
])('an answer that %s is not waited for', async (_, behaviour) => {
  answer = behaviour;
  await expect(hurried.authenticate(request)).rejects.toThrow();
});
