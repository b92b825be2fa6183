/** EMV 3-D Secure: the directory server, the challenge, the result message, and the CRes of the browser. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exponentOf } from '../../simulator/money.ts';
import { CURRENCY_OF } from '../../src/lib/money/iso-4217.ts';
import { CURRENCIES } from '../../src/rules/currencies.ts';
import { type Answer, startTestSimulator, type TestSimulator, waitUntil } from './test-simulator.ts';
import {
  answerChallenge,
  areqOf,
  cardNumber,
  creqOf,
  formOf,
  fromBase64url,
  openChallenge,
  type Page,
  postCreq,
  resultsOf,
  runChallenge,
  sendAreq,
  toBase64url,
  VISA,
} from './three-ds.ts';

let simulator: TestSimulator;
let folder: string;
beforeAll(async () => {
  simulator = await startTestSimulator();
  folder = await mkdtemp(join(tmpdir(), 'turnpike-3ds-'));
});
afterAll(async () => {
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
/** Twenty bytes in base64. */
const AUTHENTICATION_VALUE = expect.stringMatching(/^[A-Za-z0-9+/]{27}=$/);

const RIGHT = { code: '1234' };
const WRONG = { code: '4321' };
const CANCEL = { cancel: '1' };

const pay = (expiry: string, authentication?: unknown, in_: TestSimulator = simulator) => {
  const [month, year] = expiry.split('/');
  return in_.submit({
    brand: 'card',
    card: { number: VISA, month, year: `20${year}`, cvv: '123' },
    ...(authentication !== undefined && { authentication }),
  });
};

describe('base64url of this test', () => {
  test.each(['', 'a', 'ab', 'abc', 'abcd', '{"é":"€😀"}', '???>>>'])('encodes and decodes %j', (text) => {
    expect(toBase64url(text)).toBe(Buffer.from(text).toString('base64url'));
    expect(fromBase64url(toBase64url(text))).toBe(text);
  });
});

describe('the directory server', () => {
  test.each([
    ['04/38', { transStatus: 'I', eci: '07' }, 'settled'],
    ['07/38', { transStatus: 'Y', eci: '05', authenticationValue: AUTHENTICATION_VALUE }, 'settled'],
    ['08/38', { transStatus: 'A', eci: '06', authenticationValue: AUTHENTICATION_VALUE }, 'settled'],
    ['09/38', { transStatus: 'N', eci: '07', transStatusReason: '01' }, 'declined'],
    ['10/38', { transStatus: 'U', eci: '07', transStatusReason: '22' }, 'settled'],
    ['11/38', { transStatus: 'R', eci: '07', transStatusReason: '11' }, 'declined'],
  ])('%s: the response has %j without a challenge, and the card is %s', async (expiry, expected, paymentStatus) => {
    const areq = areqOf(simulator, expiry);
    const { status, body } = await simulator.call('POST', '/3ds/areq', areq);
    expect(status).toBe(200);
    expect(body).toEqual({
      messageType: 'ARes',
      messageVersion: '2.2.0',
      threeDSServerTransID: areq.threeDSServerTransID,
      dsTransID: UUID,
      acsTransID: UUID,
      dsReferenceNumber: expect.any(String),
      acsReferenceNumber: expect.any(String),
      ...expected,
    });
    const { transStatus, eci, authenticationValue, dsTransID } = body;
    const submitted = { transStatus, eci, authenticationValue, dsTransID, protocolVersion: '2.2.0' };
    expect((await pay(expiry, submitted)).body.status).toBe(paymentStatus);
    expect((await openChallenge(simulator, body)).status, 'there is no challenge to open').toBe(404);
    expect((await answerChallenge(simulator, body, RIGHT)).status).toBe(404);
    expect(resultsOf(simulator, body)).toEqual([]);
  });

  test.each(['05/38', '06/38', '05/39', '06/39', '07/39', '08/39'])('%s needs a challenge', async (expiry) => {
    const { status, body } = await sendAreq(simulator, expiry);
    expect(status).toBe(200);
    expect(body).toEqual({
      messageType: 'ARes',
      messageVersion: '2.2.0',
      threeDSServerTransID: UUID,
      dsTransID: UUID,
      acsTransID: UUID,
      dsReferenceNumber: expect.any(String),
      acsReferenceNumber: expect.any(String),
      transStatus: 'C',
      acsURL: `${simulator.url}/3ds/acs`,
      acsChallengeMandated: 'Y',
      authenticationType: '02',
    });
  });

  test.each(['01/38', '02/38', '03/38', '12/38', '12/39', '01/39', '02/39', '03/39', '12/28'])(
    '%s is not enrolled',
    async (expiry) => {
      const { status, body } = await sendAreq(simulator, expiry);
      expect([status, body]).toEqual([
        404,
        expect.objectContaining({ messageType: 'Erro', errorCode: '305', errorDetail: 'acctNumber' }),
      ]);
    },
  );

  test.each([
    [VISA, '05', '06', '07'],
    ['378282246310005', '05', '06', '07'],
    ['5555555555554444', '02', '01', '00'],
    [cardNumber('50999'), '05', '06', '07'],
    [cardNumber('51'), '02', '01', '00'],
    [cardNumber('55999'), '02', '01', '00'],
    [cardNumber('56'), '05', '06', '07'],
    [cardNumber('222099'), '05', '06', '07'],
    [cardNumber('2221'), '02', '01', '00'],
    [cardNumber('272099'), '02', '01', '00'],
    [cardNumber('2721'), '05', '06', '07'],
  ])('%s: the ECI is %s, %s and %s', async (acctNumber, ...indicators) => {
    const answers = await Promise.all(
      ['07/38', '08/38', '10/38'].map((expiry) => sendAreq(simulator, expiry, { acctNumber })),
    );
    expect(answers.map(({ body }) => body.eci)).toEqual(indicators);
  });

  test('a repeated transaction has the same response, another one has another authentication value', async () => {
    const areq = areqOf(simulator, '07/38');
    const [first, second] = [
      await simulator.call('POST', '/3ds/areq', areq),
      await simulator.call('POST', '/3ds/areq', { ...areq, cardExpiryDate: '3805' }),
    ];
    expect(second).toEqual(first);
    expect((await sendAreq(simulator, '07/38')).body.authenticationValue).not.toBe(first.body.authenticationValue);
  });

  test('refuses a wrong key', async () => {
    expect((await simulator.call('POST', '/3ds/areq', areqOf(simulator, '05/38'), 'another')).status).toBe(401);
  });

  test.each(['timeout_before', 'timeout_after'])('%s: drops the connection when the fault is set', async (mode) => {
    await simulator.setFault(mode, { brand: '3ds' });
    await expect(sendAreq(simulator, '07/38')).rejects.toThrow();
    expect((await sendAreq(simulator, '07/38')).status).toBe(200);
  });

  test('error_500: fails when the fault is set, and payments do not', async () => {
    await simulator.setFault('error_500', { brand: '3ds' });
    expect((await pay('01/38')).status).toBe(200);
    expect((await sendAreq(simulator, '07/38')).status).toBe(500);
  });

  test('has the numeric code and the exponent of every currency of the gateway', () => {
    const known = Object.entries(CURRENCIES).map(([code, { numeric, exponent }]) => [numeric, code, exponent]);
    expect([...CURRENCY_OF].map(([numeric, code]) => [numeric, code, exponentOf(code)]).toSorted()).toEqual(
      known.toSorted(),
    );
  });
});

describe('an invalid AReq', () => {
  const NEEDED = [
    ...['messageType', 'messageVersion', 'messageCategory', 'deviceChannel', 'threeDSServerTransID'],
    ...['threeDSServerURL', 'threeDSRequestorURL', 'notificationURL', 'acctNumber', 'cardExpiryDate'],
    ...['purchaseAmount', 'purchaseCurrency', 'purchaseExponent', 'purchaseDate', 'merchantName', 'mcc'],
    ...['browserAcceptHeader', 'browserLanguage', 'browserUserAgent', 'browserJavascriptEnabled'],
  ];
  test.each(NEEDED)('without %s', async (name) => {
    for (const value of [undefined, '']) {
      const { status, body } = await sendAreq(simulator, '05/38', { [name]: value });
      expect([status, body]).toMatchObject([400, { messageType: 'Erro', errorCode: '201', errorDetail: name }]);
    }
  });

  test.each([
    ['messageType', 'PReq', '101'],
    ['messageVersion', '2.1.0', '102', '2.2.0'],
    ['messageVersion', 2, '102', '2.2.0'],
    ['messageCategory', '02'],
    ['deviceChannel', '01'],
    ['threeDSServerTransID', '1'],
    ['threeDSServerURL', 'javascript:alert(1)'],
    ['notificationURL', 'here'],
    ['notificationURL', `https://pay.example.com/${'x'.repeat(256)}`],
    ['acctNumber', '4111111111111112'],
    ['acctNumber', 4111111111111111],
    ['acctNumber', '4111 1111 1111 1111'],
    ['cardExpiryDate', '0538x'],
    ['cardExpiryDate', '3813'],
    ['cardExpiryDate', '05/38'],
    ['purchaseAmount', '10.00'],
    ['purchaseAmount', 1000],
    ['purchaseCurrency', 'EUR', '304'],
    ['purchaseCurrency', '999', '304'],
    ['purchaseExponent', '0'],
    ['purchaseExponent', 2],
    ['purchaseDate', '20261301000000'],
    ['purchaseDate', '20260230000000'],
    ['purchaseDate', '2026-11-15'],
    ['merchantName', 'x'.repeat(41)],
    ['mcc', '599'],
    ['browserIP', '203.0.113'],
    ['browserLanguage', 'en-US-x-long'],
    ['browserJavascriptEnabled', 'false'],
    ['browserJavaEnabled', 'false'],
    ['threeDSCompInd', 'X'],
    ['merchantCountryCode', 'RS'],
  ])('%s is %j', async (name, value, code = '203', detail = name) => {
    const { status, body } = await sendAreq(simulator, '05/38', { [name]: value });
    expect([status, body]).toMatchObject([
      400,
      {
        messageType: 'Erro',
        messageVersion: '2.2.0',
        errorComponent: 'D',
        errorMessageType: 'AReq',
        errorCode: code,
        errorDescription: expect.stringMatching(/^[A-Z].*\.$/),
        errorDetail: detail,
      },
    ]);
  });

  test('a browser with JavaScript requires more members', async () => {
    const scripts = { browserJavascriptEnabled: true };
    const more = { browserColorDepth: '24', browserScreenHeight: '800', browserScreenWidth: '390', browserTZ: '-60' };
    expect((await sendAreq(simulator, '05/38', { ...scripts, ...more })).status).toBe(200);
    for (const name of Object.keys(more)) {
      const { body } = await sendAreq(simulator, '05/38', { ...scripts, ...more, [name]: undefined });
      expect(body).toMatchObject({ errorCode: '201', errorDetail: name });
    }
    expect((await sendAreq(simulator, '05/38', { ...scripts, ...more, browserJavaEnabled: undefined })).status).toBe(
      400,
    );
  });

  test('optional members may be left out', async () => {
    const fields = { browserIP: undefined, browserJavaEnabled: undefined };
    expect((await sendAreq(simulator, '05/38', fields)).status).toBe(200);
    const more = { threeDSCompInd: 'U', threeDSRequestorAuthenticationInd: '01', merchantCountryCode: '688' };
    expect((await sendAreq(simulator, '05/38', more)).status).toBe(200);
  });

  test.each([['[]'], ['"AReq"'], ['null'], ['{'], [`{"acctNumber":"${VISA}`], [VISA]])(
    '%s is not an AReq',
    async (text) => {
      const response = await fetch(`${simulator.url}/3ds/areq`, {
        method: 'POST',
        headers: { authorization: 'Bearer the-key-of-the-gateway', 'content-type': 'application/json' },
        body: text,
      });
      const answered = await response.text();
      expect([response.status, JSON.parse(answered)]).toMatchObject([400, { messageType: 'Erro', errorCode: '101' }]);
      expect(answered).not.toContain(VISA);
    },
  );
});

describe('the challenge page', () => {
  const opened = async (fields: Record<string, unknown> = {}) => {
    const { body } = await sendAreq(simulator, '05/38', fields);
    return { ares: body, page: await openChallenge(simulator, body) };
  };

  function expectGoodPage({ text, policy }: Page): void {
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(text).toContain('Provider simulator. No real money.');
    expect(text).not.toMatch(/<link|<img|src=|@import|url\(/i);
    expect(text).toMatch(/<\/html>\n$/);
    expect(policy).toMatch(/^default-src 'none'; style-src 'unsafe-inline'; form-action \*; base-uri 'none'; /);
    const scripts = [...text.matchAll(/<script>([^<]*)<\/script>/g)].map(([, script]) => script as string);
    const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    expect(text.match(/<script/gi) ?? []).toHaveLength(scripts.length);
    expect(policy.match(/script-src (.*)$/)?.[1]).toBe(hashes[0]);
  }

  test('shows the payment and asks for a code', async () => {
    const { ares, page } = await opened({
      merchantName: 'Tea & "Co" <b>',
      purchaseAmount: '123456',
      purchaseCurrency: '392',
      purchaseExponent: '0',
    });
    expect(page.status).toBe(200);
    expectGoodPage(page);
    expect(page.text).not.toContain('<script');
    for (const part of [
      'Simulated bank',
      'Tea &amp; &quot;Co&quot; &lt;b&gt;',
      '¥123,456',
      '•••• 1111',
      'In the sandbox the code is 1234.',
      'autocomplete="one-time-code"',
      'inputmode="numeric"',
      `<form method="post" action="/3ds/acs/${ares.acsTransID}">`,
      '>Confirm</button>',
      '<button class="no" name="cancel" value="1" formnovalidate>Cancel</button>',
    ]) {
      expect(page.text).toContain(part);
    }
    expect(page.text).not.toContain('role="alert"');
  });

  test('can be opened again and keeps the number of attempts', async () => {
    const { ares } = await opened();
    await answerChallenge(simulator, ares, WRONG);
    expect((await openChallenge(simulator, ares)).status).toBe(200);
    expect((await answerChallenge(simulator, ares, WRONG)).text).toContain('You have one attempt left.');
  });

  test('the return page is a form with a button, submitted by one known script', async () => {
    const { ares } = await opened({ notificationURL: 'https://pay.example.com/3ds/1?a=1&b=2' });
    const page = await answerChallenge(simulator, ares, RIGHT);
    expect(page.status).toBe(200);
    expectGoodPage(page);
    expect(page.text).toContain('<script>document.forms[0].submit()</script>');
    expect(page.text).toContain('<button class="yes">Continue</button>');
    expect(page.text.match(/<form/g)).toHaveLength(1);
    expect(page.text).not.toMatch(/name="(submit|action)"/);
    const { action, values, cres } = formOf(page);
    expect(action).toBe('https://pay.example.com/3ds/1?a=1&b=2');
    expect(values.cres).toMatch(/^[\w-]+$/);
    expect(values.threeDSSessionData).toBe('c2Vzc2lvbg');
    expect(cres).toEqual({
      messageType: 'CRes',
      messageVersion: '2.2.0',
      threeDSServerTransID: ares.threeDSServerTransID,
      acsTransID: ares.acsTransID,
      transStatus: 'Y',
    });
  });

  test('returns the session data unchanged, or none', async () => {
    const { body } = await sendAreq(simulator, '05/38');
    const odd = `"><b>'&amp;${'x'.repeat(1000)}`;
    await openChallenge(simulator, body, odd);
    expect(formOf(await answerChallenge(simulator, body, RIGHT)).values.threeDSSessionData).toBe(odd);
    const { body: other } = await sendAreq(simulator, '05/38');
    await postCreq(simulator, toBase64url(JSON.stringify(creqOf(other))));
    expect(formOf(await answerChallenge(simulator, other, RIGHT)).values).not.toHaveProperty('threeDSSessionData');
  });

  test.each([
    [{}, 200],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
  ])('an answer with the headers %j has the status %i', async (headers, status) => {
    const { ares } = await opened();
    expect((await answerChallenge(simulator, ares, RIGHT, headers as Record<string, string>)).status).toBe(status);
    expect(resultsOf(simulator, ares)).toHaveLength(status === 200 ? 1 : 0);
  });
});

describe('a CReq', () => {
  const creqs: [what: string, creq: (ares: Answer['body']) => string, status: number, sentence: string][] = [
    ['that is missing', () => '', 400, 'The form has no creq.'],
    ['that is too long', () => 'A'.repeat(5000), 400, 'The form has no creq.'],
    ['with padding', (ares) => `${toBase64url(JSON.stringify(creqOf(ares)))}==`, 400, 'The creq is padded'],
    ['in plain base64', () => '+/+/', 400, 'The creq is not base64url.'],
    ['cut off', (ares) => `${toBase64url(JSON.stringify(creqOf(ares)))}A`, 400, 'The creq is not'],
    ['that is no JSON', () => toBase64url('{"acsTransID":'), 400, 'The creq is not a JSON object.'],
    ['that is a list', () => toBase64url('[]'), 400, 'The creq is not a JSON object.'],
    ...(
      [
        [{ messageType: 'CRes' }, 400, 'The creq is not a CReq: its messageType is another.'],
        [{ messageVersion: '2.1.0' }, 400, 'The messageVersion of the CReq is not 2.2.0.'],
        [{ acsTransID: undefined }, 400, 'The CReq has no acsTransID.'],
        [{ threeDSServerTransID: 7 }, 400, 'The CReq has no threeDSServerTransID.'],
        [{ challengeWindowSize: '06' }, 400, 'The challengeWindowSize of the CReq is not one of 01 to 05.'],
        [{ acsTransID: '00000000-0000-4000-8000-000000000000' }, 404, 'Unknown payment'],
        [{ threeDSServerTransID: '00000000-0000-4000-8000-000000000000' }, 404, 'Unknown payment'],
      ] as const
    ).map(([fields, status, sentence]): (typeof creqs)[number] => [
      `with ${JSON.stringify(fields)}`,
      (ares) => toBase64url(JSON.stringify(creqOf(ares, fields))),
      status,
      sentence,
    ]),
  ];

  test.each(creqs)('%s is refused on a page', async (_what, creq, status, sentence) => {
    const { body } = await sendAreq(simulator, '05/38');
    const page = await postCreq(simulator, creq(body));
    expect(page.status).toBe(status);
    expect(page.text).toMatch(/^<!doctype html>/);
    expect(page.text).toContain(sentence);
    expect(page.text).not.toContain('<form');
  });

  test('is accepted without padding and without a window size', async () => {
    const { body } = await sendAreq(simulator, '05/38');
    const creq = toBase64url(JSON.stringify(creqOf(body, { challengeWindowSize: undefined })));
    expect(creq).not.toContain('=');
    expect((await postCreq(simulator, creq)).status).toBe(200);
  });

  test('session data that are too long are refused', async () => {
    const { body } = await sendAreq(simulator, '05/38');
    expect((await openChallenge(simulator, body, 'x'.repeat(1025))).status).toBe(400);
  });

  test.each([
    ['text/plain', 400],
    ['image/png', 415],
  ])('a body of %s is refused on a page', async (type, status) => {
    const headers = { 'content-type': type };
    const response = await fetch(`${simulator.url}/3ds/acs`, { method: 'POST', body: 'creq=e30', headers });
    expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(/^<!doctype html>/)]);
  });

  test('an unknown transaction is 404', async () => {
    const page = await answerChallenge(simulator, { acsTransID: '00000000-0000-4000-8000-000000000000' }, RIGHT);
    expect([page.status, page.text]).toEqual([404, expect.stringContaining('Unknown payment')]);
  });
});

describe('a challenge', () => {
  const result = (ares: Answer['body'], fields: Record<string, unknown>) => ({
    messageType: 'RReq',
    messageVersion: '2.2.0',
    messageCategory: '01',
    threeDSServerTransID: ares.threeDSServerTransID,
    acsTransID: ares.acsTransID,
    dsTransID: ares.dsTransID,
    authenticationType: '02',
    authenticationMethod: '02',
    ...fields,
  });
  const passed = (ares: Answer['body'], interactionCounter = '01') =>
    result(ares, { transStatus: 'Y', eci: '05', authenticationValue: AUTHENTICATION_VALUE, interactionCounter });
  const failed = (ares: Answer['body'], fields: Record<string, unknown>) =>
    result(ares, { transStatus: 'N', eci: '07', transStatusReason: '01', ...fields });

  test('05/38, the right code: the signed result arrives before the page, and the card is charged', async () => {
    const { ares, last } = await runChallenge(simulator, '05/38', [RIGHT]);
    const received = resultsOf(simulator, ares);
    expect(received).toEqual([
      { id: expect.stringMatching(/^evt_/), isSigned: true, body: passed(ares), answered: 200 },
    ]);
    expect(formOf(last).cres.transStatus).toBe('Y');
    const { transStatus, eci, authenticationValue, dsTransID } = received[0]?.body ?? {};
    const submitted = { transStatus, eci, authenticationValue, dsTransID, protocolVersion: '2.2.0' };
    expect((await pay('05/38', submitted)).body.status).toBe('settled');
  });

  test('ignores spaces in the code', async () => {
    const { ares } = await runChallenge(simulator, '05/38', [{ code: ' 12 34 ' }]);
    expect(resultsOf(simulator, ares)).toMatchObject([{ body: { transStatus: 'Y' } }]);
  });

  test('a wrong code shows an error, and the right code still passes', async () => {
    const { ares, pages } = await runChallenge(simulator, '05/38', [WRONG, { code: '' }, {}, WRONG, RIGHT]);
    expect(pages.map(({ status }) => status)).toEqual([200, 400, 400, 400, 400, 200]);
    for (const [index, sentence] of [
      'This code is wrong. You have 2 attempts left.',
      'Please enter the code.',
      'Please enter the code.',
      'This code is wrong. You have one attempt left.',
    ].entries()) {
      expect(pages[index + 1]?.text).toContain(`role="alert">${sentence}<`);
      expect(pages[index + 1]?.text).toContain('aria-invalid="true"');
    }
    expect(resultsOf(simulator, ares).map(({ body }) => body)).toEqual([passed(ares, '03')]);
  });

  test('fails after three wrong codes', async () => {
    const { ares, last } = await runChallenge(simulator, '05/38', [WRONG, WRONG, WRONG]);
    expect(last.status).toBe(200);
    expect(formOf(last).cres.transStatus).toBe('N');
    expect(resultsOf(simulator, ares).map(({ body }) => body)).toEqual([
      failed(ares, { transStatusReason: '19', interactionCounter: '03' }),
    ]);
    expect((await pay('05/38')).body.status).toBe('declined');
  });

  test('the payer cancels, whatever was entered', async () => {
    const { ares, last } = await runChallenge(simulator, '05/38', [{ code: '1234', cancel: '1' }]);
    expect(formOf(last).cres.transStatus).toBe('N');
    expect(resultsOf(simulator, ares).map(({ body }) => body)).toEqual([
      failed(ares, { challengeCancel: '01', interactionCounter: '00' }),
    ]);
  });

  test('a result is final and sent once', async () => {
    const { ares, last } = await runChallenge(simulator, '05/38', [CANCEL]);
    const again = [
      await answerChallenge(simulator, ares, RIGHT),
      await answerChallenge(simulator, ares, WRONG),
      await answerChallenge(simulator, ares, {}),
    ];
    again.push(await openChallenge(simulator, ares, 'b3RoZXI'));
    for (const page of again) expect([page.status, formOf(page)]).toEqual([200, formOf(last)]);
    expect(resultsOf(simulator, ares)).toHaveLength(1);
  });

  test('thirty concurrent right codes have one result', async () => {
    const { ares } = await runChallenge(simulator, '05/38', []);
    const pages = await Promise.all(Array.from({ length: 30 }, () => answerChallenge(simulator, ares, RIGHT)));
    expect(new Set(pages.map((page) => formOf(page).cres.transStatus))).toEqual(new Set(['Y']));
    expect(resultsOf(simulator, ares).map(({ body }) => body)).toEqual([passed(ares)]);
  });

  test('a Mastercard has its own ECI', async () => {
    const { ares } = await runChallenge(simulator, '05/38', [RIGHT], { acctNumber: '5555555555554444' });
    expect(resultsOf(simulator, ares)).toMatchObject([{ body: { eci: '02' } }]);
  });

  test.each([[RIGHT], [WRONG]])('06/38 fails with %j', async (form) => {
    const { ares, last } = await runChallenge(simulator, '06/38', [form]);
    expect(formOf(last).cres.transStatus).toBe('N');
    expect(resultsOf(simulator, ares).map(({ body }) => body)).toEqual([failed(ares, { interactionCounter: '01' })]);
  });

  test('05/39: the result arrives two seconds after the browser returned', async () => {
    const started = Date.now();
    const { ares, last } = await runChallenge(simulator, '05/39', [RIGHT]);
    expect(formOf(last).cres.transStatus).toBe('Y');
    await waitUntil(() => resultsOf(simulator, ares).length === 1);
    expect(Date.now() - started).toBeGreaterThanOrEqual(2000);
    expect(resultsOf(simulator, ares)).toMatchObject([{ isSigned: true, body: passed(ares) }]);
  });

  test('06/39: the result is sent twice, as one event', async () => {
    const { ares, last } = await runChallenge(simulator, '06/39', [RIGHT]);
    expect(formOf(last).cres.transStatus).toBe('Y');
    const [first, second, ...more] = resultsOf(simulator, ares);
    expect(first).toMatchObject({ isSigned: true, body: passed(ares) });
    expect([second, more]).toEqual([first, []]);
  });

  test.each([
    [RIGHT, 'Y'],
    [CANCEL, 'N'],
  ])('07/39, %j: the browser returns %s, and no result is sent', async (form, transStatus) => {
    const { ares, last } = await runChallenge(simulator, '07/39', [form]);
    expect(formOf(last).cres.transStatus).toBe(transStatus);
    await pause(300);
    expect(resultsOf(simulator, ares)).toEqual([]);
  });

  test.each([[RIGHT], [WRONG], [CANCEL]])('08/39, %j: fails, although the browser returns success', async (form) => {
    const { ares, last } = await runChallenge(simulator, '08/39', [form]);
    expect(formOf(last).cres.transStatus).toBe('Y');
    expect(last.text).toContain('Not confirmed');
    expect(resultsOf(simulator, ares)).toMatchObject([{ isSigned: true, body: { transStatus: 'N' } }]);
    expect(resultsOf(simulator, ares)[0]?.body).not.toHaveProperty('authenticationValue');
  });

  test('an unaccepted result is retried unchanged', async () => {
    simulator.receiver.answers.push(500, 'silence');
    const { ares, last } = await runChallenge(simulator, '05/38', [RIGHT]);
    expect(formOf(last).cres.transStatus, 'the payer does not wait for it').toBe('Y');
    await waitUntil(() => resultsOf(simulator, ares).length === 3);
    const received = resultsOf(simulator, ares);
    expect(new Set(received.map(({ id, body }) => JSON.stringify([id, body]))).size).toBe(1);
    expect(received.every(({ isSigned }) => isSigned)).toBe(true);
  });
});

test('an open challenge and an unaccepted result survive a restart', async () => {
  const file = join(folder, 'again', 'simulator.sqlite');
  const threeDSServerURL = simulator.receiver.url;
  const before = await startTestSimulator({ file, delayMs: 3_600_000 });
  const { ares: open } = await runChallenge(before, '05/38', [WRONG], { threeDSServerURL });
  simulator.receiver.answers.push(500);
  const { ares: unaccepted } = await runChallenge(before, '05/38', [RIGHT], { threeDSServerURL });
  await before.close();
  expect(resultsOf(simulator, unaccepted)).toHaveLength(1);

  const after = await startTestSimulator({ file });
  await waitUntil(() => resultsOf(simulator, unaccepted).length === 2);
  const [first, second] = resultsOf(simulator, unaccepted);
  expect(second).toEqual({ ...first, answered: 200 });
  expect(second).toMatchObject({ isSigned: true, body: { authenticationValue: AUTHENTICATION_VALUE } });
  expect((await answerChallenge(after, open, WRONG)).text).toContain('You have one attempt left.');
  await answerChallenge(after, open, RIGHT);
  expect(resultsOf(simulator, open)).toMatchObject([{ body: { transStatus: 'Y', interactionCounter: '03' } }]);
  await after.close();
});

describe('secrets', () => {
  const NUMBER = cardNumber('4975', 16);
  const CVV = '90817263';
  const HOLDER = 'Ana Payer';

  const bytesIn = async (where: string): Promise<string> => {
    const files = await readdir(where);
    return (await Promise.all(files.map((name) => readFile(join(where, name), 'latin1')))).join('');
  };

  test('no card number, security code or authentication value is in the file, on a page or in an error', async () => {
    const where = join(folder, 'secrets');
    const isolated = await startTestSimulator({
      file: join(where, 'simulator.sqlite'),
      notificationRetryMs: [60_000],
    });
    const shown: string[] = [];
    const values: string[] = [];
    const show = <Shown>(what: Shown): Shown => {
      shown.push(JSON.stringify(what));
      return what;
    };
    const submit = async (fields: Record<string, unknown>, more: Record<string, unknown> = {}) => {
      const card = { number: NUMBER, month: '01', year: '2038', cvv: CVV, holder: HOLDER, ...fields };
      const { body } = show(await isolated.submit({ brand: 'card', card, ...more }));
      if (body.reference) show(await isolated.details(body.reference));
      return body;
    };

    // A gateway that accepts nothing leaves every result in the outbox.
    isolated.receiver.answers.push(...Array.from({ length: 20 }, () => 500));
    for (const expiry of ['05/38', '06/38', '05/39', '06/39', '07/39', '08/39']) {
      for (const form of [RIGHT, WRONG, CANCEL]) {
        const { pages, ares } = await runChallenge(isolated, expiry, [form], { acctNumber: NUMBER });
        show(pages);
        for (const { body } of resultsOf(isolated, ares)) values.push(body.authenticationValue ?? '');
      }
    }
    for (const expiry of ['07/38', '08/38', '01/38']) {
      values.push((await sendAreq(isolated, expiry, { acctNumber: NUMBER })).body.authenticationValue ?? '');
    }
    const authenticationValues = values.filter((value) => value !== '');
    expect(authenticationValues.length).toBeGreaterThan(4);

    for (const authenticationValue of authenticationValues)
      await submit({}, { authentication: { transStatus: 'Y', authenticationValue } });
    const { redirect } = await submit({ month: '12' });
    show(await (await fetch(redirect.url)).text());
    show(await isolated.decide(redirect.url, { decision: 'approve' }));
    show(await (await fetch(redirect.url)).text());
    show(await (await fetch(`${isolated.url}/`)).text());

    // A card number in a wrong member is not repeated in the response.
    for (const name of ['number', 'month', 'year', 'cvv', 'holder']) await submit({ [name]: `${NUMBER} ` });
    await submit({}, { card: NUMBER });
    await submit({}, { authentication: NUMBER });
    for (const name of Object.keys(areqOf(isolated, '05/38')).filter(
      (one) => !/merchantName|URL|browser[AU]/.test(one),
    )) {
      show(await sendAreq(isolated, '05/38', { [name]: `${NUMBER}x` }));
    }
    show(await postCreq(isolated, NUMBER));
    show(await postCreq(isolated, toBase64url(NUMBER)));
    show(await postCreq(isolated, toBase64url(JSON.stringify({ messageType: 'CReq', acctNumber: NUMBER }))));
    for (const path of ['/v1/payments', '/3ds/areq']) {
      const response = await fetch(isolated.url + path, {
        method: 'POST',
        headers: { authorization: 'Bearer the-key-of-the-gateway', 'content-type': 'application/json' },
        body: `{"card":{"number":"${NUMBER}"`,
      });
      show([response.status, await response.text()]);
    }

    const open = await bytesIn(where);
    await isolated.close();
    const closed = await bytesIn(where);
    for (const bytes of [open, closed]) {
      expect(bytes.includes(NUMBER.slice(0, 6)), 'the file holds what it should').toBe(true);
      for (const secret of [NUMBER, CVV, HOLDER, ...authenticationValues])
        expect(bytes.includes(secret), secret).toBe(false);
    }
    for (const text of shown) for (const secret of [NUMBER, CVV]) expect(text).not.toContain(secret);
  });
});
