/** The Adyen connector: its requests, outcomes, errors and webhooks, against a double of Adyen. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fromAdyen, toAdyen } from '../../../src/connectors/adyen/amounts.ts';
import { baseOf } from '../../../src/connectors/adyen/client.ts';
import { adyen } from '../../../src/connectors/adyen/index.ts';
import { type Connector, NotSent, type Outcome, type Submission } from '../../../src/connectors/connector.ts';
import { newId } from '../../../src/lib/crypto/id.ts';
import { Secret } from '../../../src/lib/crypto/secret.ts';
import { Deadline } from '../../../src/lib/time/deadline.ts';
import { DECLINE_CAUSES, type DeclineCause } from '../../../src/rules/reasons.ts';
import { type AdyenDouble, AUTHENTICATED_CARD, requestValidator, startAdyen } from '../../doubles/adyen.ts';
import { testOperation, testSubmission } from '../../support/submissions.ts';

let double: AdyenDouble;
let connector: Connector;
let hosted: Connector;
const open = (settings: Record<string, unknown> = {}, credentials: Record<string, string> = {}): Connector =>
  adyen.create({
    credential: (name) => ({ ...double.credentials, ...credentials })[name] ?? '',
    settings,
    apiBase: double.url,
    environment: 'sandbox',
  });
beforeAll(async () => {
  double = await startAdyen();
  connector = open();
  hosted = open({ mode: 'hosted' });
});
beforeEach(() => {
  double.calls.length = 0;
  double.webhooks();
});
afterAll(async () => {
  expect(double.violations).toEqual([]);
  await Promise.all([connector.close?.(), hosted.close?.()]);
  await double.close();
});

const soon = (): Deadline => new Deadline(30_000);
const PAN = '4111111111111111';
const CVV = '7373';
const CRYPTOGRAM = 'AgAAAAAAAIR8CQrXcIhbQAAAAAA=';
const card = (number = PAN, holder = 'Asha Rao') => ({
  number: new Secret(number),
  month: '03',
  year: '2030',
  holder,
  cvv: new Secret(CVV),
});
const browser = {
  ip: '203.0.113.9',
  language: 'de-DE',
  userAgent: 'Mozilla/5.0',
  accept: 'text/html',
  screen: { width: 1280, height: 800, colorDepth: 24, timeZoneOffset: -120, isJavaEnabled: false },
};
const byCard = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'card', method: 'scheme', card: card(), browser, ...changes });
const byBank = (changes: Partial<Submission> = {}): Submission =>
  testSubmission({ brand: 'bank-a', method: 'ideal', ...changes });
const submit = async (submission: Submission, by = connector): Promise<Outcome> => by.submit(submission, soon());
type Redirected = Extract<Outcome, { kind: 'redirected' }>;
const declineBy = (cause: DeclineCause) => ({ kind: 'declined', ...DECLINE_CAUSES[cause] });
const items = async (by = connector) =>
  (await Promise.all(double.webhooks().map(({ headers, body }) => by.readNotifications(headers, body, 0)))).flatMap(
    (events) => events ?? [],
  );
const meanings = async (submission: Submission, by = connector) =>
  (await items(by)).map(({ body }) => by.interpretNotification(body, submission));

describe('the settings of the connection', () => {
  test('the store gets payments, repetitions and sessions, and the check reads its methods', async () => {
    const [direct, onPage] = [open({ store: 'YOUR_STORE_1' }), open({ mode: 'hosted', store: 'YOUR_STORE_1' })];
    const repetition = byCard({ recurringOf: newId(), first: { state: {}, secretState: {} } });
    await submit(byCard(), direct);
    await submit(repetition, direct);
    await submit(byBank(), onPage);
    await direct.check?.(soon());
    expect(double.calls.map(({ path, body }) => [path, body.store])).toEqual(
      ['/payments', '/payments', '/sessions', '/paymentMethods'].map((path) => [path, 'YOUR_STORE_1']),
    );
    await Promise.all([direct.close?.(), onPage.close?.()]);
  });

  test('the theme is that of the page', async () => {
    const [direct, onPage] = [open({ theme_id: 'AZ1234567' }), open({ mode: 'hosted', theme_id: 'AZ1234567' })];
    await submit(byCard(), direct);
    await submit(byBank(), onPage);
    expect(double.calls.map(({ body }) => body.themeId)).toEqual([undefined, 'AZ1234567']);
    await Promise.all([direct.close?.(), onPage.close?.()]);
  });

  test('the page closes with the payer’s time, or after an hour if Adyen would not take it', async () => {
    const now = Date.now();
    const endsIn = async (payerUntil?: number): Promise<number> => {
      await submit(byBank({ payerUntil }), hosted);
      return Date.parse(String(double.calls.at(-1)?.body.expiresAt));
    };
    expect(await endsIn(now + 15 * 60_000)).toBe(now + 15 * 60_000);
    for (const payerUntil of [undefined, now - 1000, now + 25 * 3_600_000]) {
      const before = Date.now();
      const end = await endsIn(payerUntil);
      expect(end).toBeGreaterThanOrEqual(before + 3_600_000);
      expect(end).toBeLessThanOrEqual(Date.now() + 3_600_000);
    }
  });

  test('with automatic, the payer chooses on the page, and gets the lines of the order', async () => {
    await submit(byBank({ brand: 'hosted-b', method: 'automatic' }), hosted);
    expect(double.calls[0]?.body).toMatchObject({ mode: 'hosted', lineItems: [{ amountIncludingTax: 1000 }] });
    expect(double.calls[0]?.body).not.toHaveProperty('allowedPaymentMethods');
  });

  test('with automatic, nothing is sent without the page, and no authorisation with it', async () => {
    const chosen = byBank({ brand: 'hosted-b', method: 'automatic' });
    expect(await submit(chosen)).toMatchObject(declineBy('methodUnavailable'));
    expect(await submit({ ...chosen, authoriseOnly: true }, hosted)).toMatchObject(declineBy('methodUnavailable'));
    expect(double.calls).toEqual([]);
    const named = open({ methods: { 'hosted-b': 'automatic' } });
    expect(await named.check?.(soon())).toMatchObject({
      detail: expect.stringContaining('The payment page cannot show these methods: automatic.'),
    });
    await named.close?.();
  });
});

describe('the requests', () => {
  test('a sale by card, with the browser, captured at once', async () => {
    const submission = byCard({
      payer: { first_name: 'Asha', last_name: 'Rao', email: 'a@example.com', country: 'de' },
    });
    await submit(submission);
    expect(double.calls).toEqual([
      {
        path: '/payments',
        key: `${submission.reference}-call-1`,
        body: {
          merchantAccount: 'TurnpikeECOM',
          amount: { currency: 'EUR', value: 1000 },
          reference: submission.reference,
          returnUrl: submission.returnUrl(),
          channel: 'Web',
          captureDelayHours: 0,
          paymentMethod: {
            type: 'scheme',
            number: PAN,
            expiryMonth: '03',
            expiryYear: '2030',
            holderName: 'Asha Rao',
            cvc: CVV,
          },
          shopperInteraction: 'Ecommerce',
          shopperEmail: 'a@example.com',
          shopperName: { firstName: 'Asha', lastName: 'Rao' },
          countryCode: 'DE',
          shopperIP: '203.0.113.9',
          browserInfo: {
            acceptHeader: 'text/html',
            language: 'de-DE',
            userAgent: 'Mozilla/5.0',
            colorDepth: 24,
            screenWidth: 1280,
            screenHeight: 800,
            timeZoneOffset: -120,
            javaEnabled: false,
            javaScriptEnabled: true,
          },
          authenticationData: { threeDSRequestData: { nativeThreeDS: 'disabled' } },
        },
      },
    ]);
  });

  test.each([
    [{ requested: 'challenge', reason: 'require_3ds' }, 'always', undefined],
    [{ requested: 'none', reason: 'skip_3ds' }, 'never', undefined],
    [{ requested: 'none', reason: 'low_value' }, 'never', 'lowValue'],
    [{ requested: 'none', reason: 'transaction_risk' }, 'never', 'transactionRiskAnalysis'],
  ] as const)('what a risk rule asks the issuer for: %j', async (threeDs, attempt, exemption) => {
    await submit(byCard({ threeDs }));
    expect(double.calls[0]?.body).toMatchObject({ authenticationData: { attemptAuthentication: attempt } });
    expect(double.calls[0]?.body.additionalData).toEqual(exemption && { scaExemption: exemption });
  });

  test('the text for the statement, and the number of the house', async () => {
    const payer = { address: 'High Street', house_number: '1b', city: 'York', zip: 'YO1', country: 'gb' };
    await submit(byCard({ descriptor: 'Tea & Čaj <3 a text that is too long', payer }));
    expect(double.calls[0]?.body).toMatchObject({
      shopperStatement: 'Tea Caj 3 a text that',
      billingAddress: { street: 'High Street', houseNumberOrName: '1b' },
    });
  });

  test('a method that cannot be held is not authorised: the payment may go elsewhere', async () => {
    const submission = byCard({ card: undefined, brand: 'bank-a', method: 'ideal', authoriseOnly: true });
    expect(await submit(submission)).toMatchObject(declineBy('methodUnavailable'));
    expect(double.calls).toEqual([]);
  });

  test.each<[method: string, fields: Partial<Submission>, details: Record<string, string>]>([
    ['ideal', {}, {}],
    ['bcmc_mobile', {}, {}],
    ['klarna', {}, {}],
    ['swish', {}, {}],
    ['twint', {}, {}],
    ['mobilepay', {}, {}],
    ['paypal', {}, { subtype: 'redirect' }],
  ])('%s asks for nothing more, and leads to a page', async (method, fields, details) => {
    expect(await submit(byBank({ brand: method, method, ...fields }))).toMatchObject({ kind: 'redirected' });
    expect(double.calls[0]?.body.paymentMethod).toEqual({ type: method, ...details });
  });

  test.each<[method: string, fields: Partial<Submission>, details: Record<string, string>]>([
    ['blik', { parameters: () => ({ code: '777123' }) }, { blikCode: '777123' }],
    [
      'mbway',
      { payer: { phone: '+351 912 345 678', email: 'ana@example.com' } },
      { telephoneNumber: '+351912345678', shopperEmail: 'ana@example.com' },
    ],
  ])('%s waits for the app of the payer, and the webhook brings the outcome', async (method, fields, details) => {
    const submission = byBank({ brand: method, method, ...fields });
    expect(await submit(submission)).toEqual({
      kind: 'accepted',
      providerReference: double.payment(submission.reference)?.pspReference,
    });
    expect(double.calls[0]?.body.paymentMethod).toEqual({ type: method, ...details });
    double.decideInApp(submission.reference);
    expect(await meanings(submission)).toMatchObject([{ kind: 'settled' }]);
  });

  test('a SEPA direct debit names the account and its owner', async () => {
    const parameters = () => ({ iban: 'nl91 abna 0417 1643 00' });
    const payer = { first_name: 'Ana', last_name: 'Petrović' };
    const submission = byBank({ brand: 'sepa-debit', method: 'sepadirectdebit', parameters, payer });
    expect(await submit(submission)).toMatchObject({ kind: 'settled' });
    expect(double.calls[0]?.body.paymentMethod).toEqual({
      type: 'sepadirectdebit',
      iban: 'NL91ABNA0417164300',
      ownerName: 'Ana Petrović',
    });
  });

  test('the number of a device goes with its cryptogram, and nobody is asked for an authentication', async () => {
    const device = { ...card(), cvv: undefined, holder: '' };
    const wallet = { type: 'CRYPTOGRAM_3DS', network: 'visa', cryptogram: new Secret(CRYPTOGRAM), eci: '05' } as const;
    expect(await submit(byCard({ brand: 'wallet-a', method: 'applepay', card: device, wallet }))).toMatchObject({
      kind: 'settled',
    });
    expect(double.calls[0]?.body).toMatchObject({
      paymentMethod: { type: 'networkToken', brand: 'applepay', number: PAN, expiryMonth: '03', expiryYear: '2030' },
      mpiData: {
        authenticationResponse: 'Y',
        directoryResponse: 'Y',
        tokenAuthenticationVerificationValue: CRYPTOGRAM,
        eci: '05',
      },
    });
    expect(double.calls[0]?.body).not.toHaveProperty('authenticationData');
  });

  test('the number of a card in a wallet is a card, which is authenticated', async () => {
    const wallet = { type: 'PAN_ONLY', network: 'visa' } as const;
    await submit(byCard({ brand: 'wallet-b', method: 'googlepay', wallet }));
    expect(double.calls[0]?.body).toMatchObject({
      paymentMethod: { type: 'scheme', number: PAN },
      authenticationData: { threeDSRequestData: { nativeThreeDS: 'disabled' } },
    });
    expect(double.calls[0]?.body).not.toHaveProperty('mpiData');
  });

  test('the number of a device without its cryptogram is not sent', async () => {
    const wallet = { type: 'CRYPTOGRAM_3DS', network: 'visa' } as const;
    expect(await submit(byCard({ brand: 'wallet-a', method: 'applepay', wallet }))).toMatchObject(
      declineBy('methodUnavailable'),
    );
    expect(double.calls).toEqual([]);
  });

  test('an authorisation is captured manually; addresses are sent if complete, e-mail addresses if they look valid', async () => {
    const address = { address: 'High Street 1', city: 'York', zip: 'YO1', country: 'gb' };
    await submit(
      byCard({ authoriseOnly: true, payer: { ...address, email: 'none' }, browser: { ...browser, screen: undefined } }),
    );
    const [body] = double.calls.map((call) => call.body);
    expect(body).toMatchObject({
      additionalData: { manualCapture: 'true' },
      billingAddress: {
        street: 'High Street 1',
        houseNumberOrName: 'N/A',
        city: 'York',
        postalCode: 'YO1',
        country: 'GB',
      },
      browserInfo: { javaScriptEnabled: false },
    });
    expect(body).not.toHaveProperty('captureDelayHours');
    expect(body).not.toHaveProperty('shopperEmail');
    await submit(byCard({ payer: { ...address, zip: '' } }));
    expect(double.calls[1]?.body).not.toHaveProperty('billingAddress');
  });

  test('a session on Adyen’s page has one method and no card', async () => {
    const submission = byCard({ isFirstOfSeries: true });
    const outcome = await submit(submission, hosted);
    expect(outcome).toMatchObject({
      kind: 'redirected',
      method: 'GET',
      state: { session: expect.stringMatching(/^CS/) },
    });
    expect(double.calls[0]).toMatchObject({
      path: '/sessions',
      key: `${submission.reference}-call-1`,
      body: { mode: 'hosted', allowedPaymentMethods: ['scheme'], storePaymentMethodMode: 'enabled' },
    });
    expect(JSON.stringify(double.calls)).not.toContain(PAN);
  });

  test('what Adyen cannot take is not sent', async () => {
    for (const submission of [
      byCard({ isPayout: true }),
      byCard({ card: undefined }),
      byCard({ currency: 'IDR', amount: 1001n }),
      byCard({ recurringOf: newId(), card: undefined }),
    ])
      expect(await submit(submission)).toMatchObject(declineBy('methodUnavailable'));
    expect(double.calls).toEqual([]);
  });

  test('schemas of the SDK refuse wrong, missing and unknown members', async () => {
    await submit(byCard());
    const [{ body }] = double.calls as [(typeof double.calls)[0]];
    const validate = requestValidator('Payment');
    expect(validate(body)).toBe(true);
    const { amount: _, ...withoutAmount } = body;
    for (const wrong of [
      withoutAmount,
      { ...body, amount: { currency: 'EUR', value: '1000' } },
      { ...body, shopperInteraction: 'ecommerce' },
      { ...body, captureDelay: 0 },
      { ...body, paymentMethod: { ...(body.paymentMethod as object), cvv: '1' } },
      { ...body, paymentMethod: { type: 'schema' } },
      { ...body, browserInfo: { userAgent: 'x' } },
    ])
      expect(validate(wrong), JSON.stringify(wrong)).toBe(false);
  });
});

describe('a series', () => {
  test('the first payment stores the method; a repetition uses the token', async () => {
    const first = byCard({ isFirstOfSeries: true });
    const outcome = await submit(first);
    expect(double.calls[0]?.body).toMatchObject({
      shopperReference: first.reference,
      storePaymentMethod: true,
      recurringProcessingModel: 'UnscheduledCardOnFile',
    });
    const { paymentMethod, networkTransactionId } = outcome as Exclude<Outcome, { kind: 'notFound' }>;
    expect([paymentMethod?.reveal(), networkTransactionId]).toEqual([
      expect.stringMatching(/^TOKEND/),
      expect.stringMatching(/^NTXD/),
    ]);
    // The webhook brings the same.
    const [meaning] = await meanings(first);
    expect(meaning).toMatchObject({ kind: 'settled', networkTransactionId });
    expect((meaning as typeof outcome & { paymentMethod: Secret }).paymentMethod.reveal()).toBe(
      paymentMethod?.reveal(),
    );

    const memory = { state: {}, secretState: {}, networkTransactionId, paymentMethod };
    const later = byCard({ recurringOf: first.reference, first: memory });
    expect(await submit(later)).toMatchObject({ kind: 'settled' });
    expect(double.calls[1]?.body).toMatchObject({
      paymentMethod: { type: 'scheme', storedPaymentMethodId: paymentMethod?.reveal() },
      shopperReference: first.reference,
      shopperInteraction: 'ContAuth',
      recurringProcessingModel: 'UnscheduledCardOnFile',
    });
    expect(JSON.stringify(double.calls[1])).not.toContain(PAN);
    // Also where payers pay on Adyen's page.
    expect(await submit({ ...later, reference: newId() }, hosted)).toMatchObject({ kind: 'settled' });
  });

  test('without a token, a repetition uses the card and the id of the network; Adyen does not authenticate it', async () => {
    const first = { state: {}, secretState: {}, networkTransactionId: 'NTX1' };
    const later = byCard({ recurringOf: newId(), first, card: card(AUTHENTICATED_CARD) });
    expect(await submit(later)).toMatchObject({ kind: 'settled' });
    expect(double.calls[0]?.body).toMatchObject({
      paymentMethod: { number: AUTHENTICATED_CARD, networkPaymentReference: 'NTX1' },
      shopperInteraction: 'ContAuth',
    });
    expect(double.calls[0]?.body).not.toHaveProperty('authenticationData');
  });

  test('a token that Adyen no longer has is a decline', async () => {
    const first = { state: {}, secretState: {}, paymentMethod: new Secret('TOKEN0') };
    expect(await submit(byCard({ recurringOf: newId(), first }))).toMatchObject(declineBy('providerRefused'));
  });
});

describe('declines', () => {
  test.each<[code: string, cause: DeclineCause]>([
    ['2', 'refusedByBank'],
    ['4', 'providerRefused'],
    ['6', 'expiredCard'],
    ['8', 'invalidCard'],
    ['9', 'bankUnavailable'],
    ['11', 'notAuthenticated'],
    ['12', 'insufficientFunds'],
    ['20', 'suspectedFraud'],
    ['24', 'wrongSecurityCode'],
    ['28', 'limitExceeded'],
  ])('refusal %s: %s', async (code, cause) => {
    const outcome = await submit(byCard({ card: card(PAN, `DECLINED:${code}`) }));
    expect(outcome).toMatchObject({ ...declineBy(cause), providerReference: expect.stringMatching(/^D/) });
  });

  test.each<[reason: string, cause: DeclineCause]>([
    ['Not enough balance', 'insufficientFunds'],
    ['CVC Declined', 'wrongSecurityCode'],
    ['Shopper Cancelled', 'cancelledByPayer'],
  ])('webhook with %j: %s', async (reason, cause) => {
    const submission = byCard();
    const about = { reference: submission.reference, amount: { currency: 'EUR', value: 1000 } };
    double.report('AUTHORISATION', false, about, { psp: 'D1', reason });
    expect(await meanings(submission)).toMatchObject([declineBy(cause)]);
  });

  test('a card that Adyen does not accept is a decline, not an error', async () => {
    expect(await submit(byCard({ card: card('12') }))).toMatchObject(declineBy('invalidCard'));
  });
});

describe('errors', () => {
  const failure = async (status: number, body: Record<string, unknown> | string): Promise<Error> => {
    double.answer(status, body);
    return (await submit(byCard()).catch((error) => error)) as Error;
  };

  test.each([
    [401, '000', true],
    [403, '010', true],
    [429, '000', true],
    [500, '905', false],
    [404, '000', false],
    // A request with the same idempotency key is being processed.
    [422, '704', false],
  ])('%i with error %s: not sent %s', async (status, errorCode, isNotSent) => {
    const error = await failure(status, { status, errorCode, message: `Invalid ${PAN}`, errorType: 'security' });
    expect(error).toBeInstanceOf(Error);
    expect(error instanceof NotSent).toBe(isNotSent);
    expect(`${error.message} ${error.stack}`).not.toContain(PAN);
  });

  test.each([[''], ['<html>'], ['[]'], ['"ok"']])('an answer %j leaves the outcome unknown', async (text) => {
    const error = await failure(200, text);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(NotSent);
  });

  test.each(['AuthenticationFinished', 'Success', 'a new one', undefined])(
    'the result %s is unknown',
    async (resultCode) => {
      double.answer(200, { resultCode, pspReference: 'D9' });
      expect(await submit(byCard())).toMatchObject({ kind: 'unknown' });
    },
  );

  test('a partial authorisation reports its amount, which is not ours', async () => {
    double.answer(200, { resultCode: 'PartiallyAuthorised', amount: { currency: 'EUR', value: 400 } });
    expect(await submit(byCard())).toMatchObject({ reportedAmount: { amount: 400n, currency: 'EUR' } });
  });

  test('a lost answer is repeated under the same key; a limit then does not mean that nothing was sent', async () => {
    const submission = byCard();
    double.fault('lost_after');
    expect(await submit(submission)).toMatchObject({ kind: 'settled' });
    expect(double.calls.map(({ key }) => key)).toEqual(Array(2).fill(`${submission.reference}-call-1`));
    expect(double.balance(submission.reference)).toBe(1000n);
    double.fault('lost_before', 'rate_limited');
    const error = await submit(byCard()).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(NotSent);
  });

  test('the check tells what is wrong', async () => {
    const check = async (changed: Record<string, string>) => open({}, changed).check?.(soon());
    expect(await check({})).toEqual({
      ok: true,
      detail: 'The merchant account offers 14 payment methods.',
      activeMethods: double.activeMethods,
    });
    expect(await check({ api_key: 'wrong' })).toEqual({ ok: false, detail: 'Adyen does not accept the API key.' });
    expect(await check({ merchant_account: 'Other' })).toEqual({
      ok: false,
      detail: 'The API key may not use the merchant account.',
    });
  });
});

describe('a payer who comes back', () => {
  const redirected = async (submission: Submission, by = connector): Promise<[Submission, string]> => {
    const outcome = (await submit(submission, by)) as Redirected;
    expect(outcome.kind).toBe('redirected');
    return [{ ...submission, state: outcome.state ?? {} }, outcome.url];
  };
  const resume = async (submission: Submission, returned: Record<string, string>, by = connector) =>
    by.resume?.(submission, returned, soon());

  test('from the authentication of a card: the result charges the card', async () => {
    const submission = byCard({ card: card(AUTHENTICATED_CARD), authoriseOnly: true });
    const outcome = (await submit(submission)) as Redirected;
    expect(outcome).toMatchObject({ kind: 'redirected', method: 'GET', params: {} });
    const returned = double.decide(outcome.url);
    expect(await resume(submission, returned)).toMatchObject({
      kind: 'authorised',
      providerReference: expect.stringMatching(/^D/),
    });
    expect(double.calls.at(-1)?.key).toHaveLength(60);
    expect(double.payment(submission.reference)?.state).toBe('authorised');
    expect(await meanings(submission)).toMatchObject([{ kind: 'authorised' }]);
  });

  test.each([
    ['refuse', 'refusedByBank'],
    ['cancel', 'cancelledByPayer'],
  ] as const)('after the decision to %s', async (decision, cause) => {
    const [submission, url] = await redirected(byBank());
    expect(await resume(submission, double.decide(url, decision))).toMatchObject(declineBy(cause));
    expect(await meanings(submission)).toMatchObject([declineBy(cause)]);
  });

  test('with nothing, with garbage, or with the result of another payment: nothing is known', async () => {
    const [own] = await redirected(byBank({ amount: 9900n }));
    const [, url] = await redirected(byBank());
    const other = double.decide(url);
    for (const returned of [{}, { redirectResult: 'forged' }, other, { sessionResult: 'x' }])
      expect(await resume(own, returned)).toEqual({ kind: 'unknown' });
    const [session] = await redirected(byBank(), hosted);
    const [, page] = await redirected(byBank(), hosted);
    for (const returned of [{}, double.decide(page), other])
      expect(await resume(session, returned, hosted)).toEqual({ kind: 'unknown' });
  });

  test('from Adyen’s page with an answer about another session: nothing is known', async () => {
    const [submission, url] = await redirected(byBank(), hosted);
    const returned = double.decide(url);
    const { session: id } = submission.state;
    for (const answer of [{ id: 'CS0' }, { id, reference: newId() }]) {
      double.answer(200, { status: 'completed', ...answer });
      expect(await resume(submission, returned, hosted)).toEqual({ kind: 'unknown' });
    }
    double.answer(200, { status: 'completed', id });
    expect(await resume(submission, returned, hosted)).toMatchObject({ kind: 'settled' });
  });

  test('whose result gets lost: the call is repeated', async () => {
    const [submission, url] = await redirected(byBank());
    double.fault('lost_after');
    expect(await resume(submission, double.decide(url))).toMatchObject({ kind: 'settled' });
  });

  test.each([
    [
      'authorise',
      {
        kind: 'settled',
        providerReference: expect.stringMatching(/^D/),
        reportedAmount: { amount: 1000n, currency: 'EUR' },
      },
    ],
    ['refuse', declineBy('refusedByBank')],
    ['cancel', declineBy('cancelledByPayer')],
  ] as [Parameters<AdyenDouble['decide']>[1], object][])(
    'from Adyen’s page after the decision to %s',
    async (decision, expected) => {
      const [submission, url] = await redirected(byBank(), hosted);
      expect(await resume(submission, double.decide(url, decision), hosted)).toMatchObject(expected);
      // A refusal is not the end there: the payer may try again.
      const reported = await meanings(submission, hosted);
      expect(reported).toMatchObject(decision === 'authorise' ? [{ kind: 'settled' }] : [undefined]);
    },
  );
});

describe('operations', () => {
  const authorised = async (): Promise<Submission> => {
    const submission = byCard({ authoriseOnly: true });
    const outcome = await submit(submission);
    double.webhooks();
    return { ...submission, providerReference: (outcome as Redirected).providerReference };
  };
  const operate = async (submission: Submission, verb: 'capture' | 'void' | 'refund', changes = {}) => {
    const { reference, providerReference } = submission;
    const wanted = testOperation({ verb, reference, providerReference, ...changes });
    return { wanted, outcome: await connector.operate(wanted, soon()) };
  };

  test('have their id as reference and key; the webhook names the payment, the operation and its amount', async () => {
    const submission = await authorised();
    const { wanted, outcome } = await operate(submission, 'capture', { amount: 400n });
    expect(outcome).toEqual({ kind: 'accepted', operationReference: expect.stringMatching(/^D/) });
    expect(double.calls.at(-1)).toEqual({
      path: `/payments/${submission.providerReference}/captures`,
      key: wanted.operation,
      body: {
        merchantAccount: 'TurnpikeECOM',
        amount: { currency: 'EUR', value: 400 },
        reference: wanted.operation,
      },
    });
    const [event] = await items();
    expect(event).toMatchObject({
      providerReference: submission.providerReference,
      operation: wanted.operation,
      operationReference: (outcome as { operationReference: string }).operationReference,
    });
    expect(connector.interpretNotification(event?.body ?? {}, submission)).toEqual({
      kind: 'operation',
      verb: 'capture',
      outcome: { kind: 'done', reportedAmount: { amount: 400n, currency: 'EUR' } },
    });
  });

  test('a void works without Adyen’s reference; a capture does not', async () => {
    const submission = await authorised();
    const without = { ...submission, providerReference: undefined };
    expect((await operate(without, 'capture')).outcome).toMatchObject({ kind: 'declined' });
    expect((await operate(without, 'void')).outcome).toMatchObject({ kind: 'accepted' });
    expect(double.calls.at(-1)).toMatchObject({ path: '/cancels', body: { paymentReference: submission.reference } });
    expect(double.payment(submission.reference)?.state).toBe('cancelled');
  });

  test('one that Adyen does not accept is declined', async () => {
    const submission = { ...(await authorised()), providerReference: 'D0' };
    expect((await operate(submission, 'refund')).outcome).toMatchObject(declineBy('providerRefused'));
  });

  test('a lost one may be repeated while Adyen keeps its key; one that Adyen has received waits for the webhook', () => {
    const query = (changes: object) => connector.queryOperation(testOperation(changes), soon());
    expect(query({})).toEqual({ kind: 'notFound' });
    expect(query({ requestedAt: Date.now() - 7 * 86_400_000 })).toEqual({ kind: 'unknown' });
    expect(query({ operationReference: 'D1' })).toEqual({ kind: 'accepted' });
  });

  test.each([
    ['CAPTURE_FAILED', true],
    ['REFUND_FAILED', true],
    ['REFUNDED_REVERSED', true],
    ['SETTLED_REVERSED', true],
    ['REFUND', false],
  ] as const)('%s with success %s is a decline', async (event, isSuccess) => {
    const about = { reference: newId(), amount: { currency: 'EUR', value: 1000 } };
    double.report(event as 'REFUND', isSuccess, about, { psp: 'D2', original: 'D1', reason: 'No money' });
    expect(await meanings(byCard())).toMatchObject([{ kind: 'operation', outcome: { kind: 'declined' } }]);
  });
});

describe('webhooks', () => {
  const about = { reference: newId(), amount: { currency: 'EUR', value: 1000 } };
  const read = (body: Buffer, by = connector) => by.readNotifications({}, body, 0);

  test('chargebacks count, events about no payment and other merchant accounts are left out', async () => {
    double.report('CHARGEBACK', true, about, { psp: 'D3', original: 'D1' });
    double.report('REPORT_AVAILABLE', true, about, { psp: 'D5' });
    const webhook = double.combine(double.webhooks());
    expect(await read(webhook.body)).toMatchObject([
      { eventId: 'CHARGEBACK:D3:true', reference: about.reference, providerReference: 'D1' },
    ]);
    const [event] = (await read(webhook.body)) ?? [];
    expect(connector.interpretNotification(event?.body ?? {}, byCard())).toMatchObject({
      kind: 'chargedBack',
      chargedBack: { amount: 1000n, currency: 'EUR' },
      chargebackReference: 'D3',
    });
    expect(await read(webhook.body, open({}, { merchant_account: 'Other' }))).toEqual([]);
  });

  test.each([
    ['REQUEST_FOR_INFORMATION', { kind: 'chargebackReport', stage: 'inquiry' }],
    ['NOTIFICATION_OF_CHARGEBACK', { kind: 'chargebackReport', stage: 'warning' }],
    ['NOTIFICATION_OF_FRAUD', { kind: 'chargebackReport', stage: 'warning', respondBy: null }],
    ['INFORMATION_SUPPLIED', { kind: 'chargebackReport', state: 'answered' }],
    ['CHARGEBACK_REVERSED', { kind: 'chargebackReversed' }],
    ['PREARBITRATION_WON', { kind: 'chargebackReversed' }],
    ['SECOND_CHARGEBACK', { kind: 'secondChargedBack', respondBy: null }],
    ['PREARBITRATION_LOST', { kind: 'secondChargedBack', respondBy: null }],
    ['EXPIRE', { kind: 'expired' }],
    ['A_CODE_OF_THE_FUTURE', { kind: 'unhandled', event: 'A_CODE_OF_THE_FUTURE' }],
  ])('%s', async (code, meaning) => {
    double.report(code as 'CHARGEBACK', true, about, { psp: 'D9', original: 'D1' });
    expect(await meanings(byCard())).toMatchObject([meaning]);
  });

  test('RECURRING_CONTRACT brings the token, in its data or in place of a reference', async () => {
    const named = { 'recurring.recurringDetailReference': 'TOKEN1' };
    double.report('RECURRING_CONTRACT', true, about, { psp: 'D13', original: 'D1', data: named });
    double.report('RECURRING_CONTRACT', true, about, { psp: 'TOKEN2', original: 'D1' });
    double.report('RECURRING_CONTRACT', false, about, { psp: 'D14', original: 'D1' });
    const tokens = (await meanings(byCard())).map((meaning) =>
      meaning?.kind === 'stored' ? meaning.paymentMethod.reveal() : meaning,
    );
    expect(tokens).toEqual(['TOKEN1', 'TOKEN2', undefined]);
  });

  test('the deadline and the cause of a chargeback are those of Adyen; one that cannot be defended has none', async () => {
    const data = { defensePeriodEndsAt: '2030-01-31T12:00:00+01:00', defendable: 'true' };
    double.report('CHARGEBACK', true, about, { psp: 'D10', original: 'D1', reason: 'Fraud', data });
    double.report('CHARGEBACK', true, about, { psp: 'D11', original: 'D1', data: { ...data, defendable: 'false' } });
    expect(await meanings(byCard())).toMatchObject([
      { cause: 'Fraud', respondBy: Date.parse('2030-01-31T11:00:00Z') },
      { respondBy: null },
    ]);
  });

  test('are accepted with the former key while it is changed', async () => {
    const former_hmac_key = 'AB'.repeat(32);
    double.report('AUTHORISATION', true, about, { psp: 'D12' });
    const [webhook] = double.webhooks();
    const item = JSON.parse(String(webhook?.body)).notificationItems[0].NotificationRequestItem;
    const { hmacSignature: _, ...additionalData } = item.additionalData;
    const { body } = double.webhookOf([double.sign({ ...item, additionalData }, former_hmac_key)]);
    expect(await read(body)).toBeUndefined();
    expect(await read(body, open({}, { former_hmac_key }))).toHaveLength(1);
  });

  test('one item with a wrong signature refuses the webhook', async () => {
    double.report('AUTHORISATION', true, about, { psp: 'D6' });
    double.report('AUTHORISATION', true, about, { psp: 'D7' });
    const { body } = double.combine(double.webhooks());
    expect(await read(body)).toHaveLength(2);
    for (const [from, to] of [
      ['D7', 'D8'],
      ['1000', '9000'],
      ['"success":"true"', '"success":"false"'],
      ['hmacSignature', 'other'],
    ] as const)
      expect(await read(Buffer.from(body.toString().replace(from, to))), to).toBeUndefined();
    for (const hmac_key of ['', 'not hexadecimal', '00', double.credentials.hmac_key.replace(/^./, 'G')])
      expect(await read(body, open({}, { hmac_key })), hmac_key).toBeUndefined();
    // The SDK reads a key that is not hexadecimal as an empty one.
    const unsigned = JSON.parse(body.toString()).notificationItems[0].NotificationRequestItem;
    const forged = double.webhookOf([double.sign(unsigned, '')]).body;
    for (const hmac_key of ['', 'not hexadecimal']) expect(await read(forged, open({}, { hmac_key }))).toBeUndefined();
    for (const text of ['', '[]', '{}', '{"notificationItems":[]}', '{"notificationItems":[{}]}'])
      expect(await read(Buffer.from(text)), text).toBeUndefined();
  });

  test('fields that would shift within the signed text are not used', async () => {
    double.report('AUTHORISATION', true, { ...about, reference: 'a:b' }, { psp: 'D9' });
    expect(await items()).toEqual([]);
  });

  test('parts of the card are not stored', async () => {
    double.report('AUTHORISATION', true, about, {
      psp: 'D10',
      reason: '079763:1111:03/2030',
      data: { cardSummary: '1111', expiryDate: '03/2030', networkTxReference: 'N1' },
    });
    const [event] = await items();
    expect(JSON.stringify(event)).not.toMatch(/1111|03\/2030|hmac/);
    expect(event?.body.additionalData).toEqual({ networkTxReference: 'N1' });
  });
});

test('amounts: currencies in which Adyen counts other digits than ISO 4217', () => {
  const both = (amount: bigint, currency: string, value: number) => {
    expect(toAdyen(amount, currency)).toEqual({ currency, value });
    expect(fromAdyen({ currency, value })).toEqual({ amount, currency });
  };
  both(1000n, 'EUR', 1000);
  both(10n, 'JPY', 10);
  both(1000n, 'KWD', 1000);
  both(10n, 'CLP', 1000);
  both(10n, 'ISK', 1000);
  both(1000n, 'IDR', 10);
  both(1000n, 'CVE', 10);
  expect(toAdyen(1050n, 'IDR')).toBeUndefined();
  for (const wrong of [
    null,
    {},
    { currency: 'EUR', value: '10' },
    { currency: 'XXX', value: 1 },
    { currency: 'CLP', value: 150 },
  ])
    expect(fromAdyen(wrong)).toBe('invalid');
});

test('production calls Adyen’s live host of the account, and nothing else', async () => {
  const access = { credential: () => '', apiBase: undefined };
  const base = (environment: 'sandbox' | 'production', live_prefix?: string) =>
    baseOf({ ...access, environment, settings: { live_prefix } });
  expect(base('sandbox', '1797a841fbb37ca7-Demo')).toBe('https://checkout-test.adyen.com');
  expect(base('production', '1797a841fbb37ca7-Demo')).toBe(
    'https://1797a841fbb37ca7-demo-checkout-live.adyenpayments.com',
  );
  for (const wrong of [undefined, '', 'evil.example/', 'evil.example#', 'user@evil.example/', 'a.b'])
    expect(base('production', wrong)).toBeUndefined();
  const live = adyen.create({ ...access, environment: 'production', settings: {} });
  await expect(async () => live.submit(byCard(), soon())).rejects.toBeInstanceOf(NotSent);
});

describe('what the payer does next', () => {
  test.each([
    ['promptpay', { kind: 'accepted', code: '00020101promptpay' }],
    [
      'multibanco',
      {
        kind: 'accepted',
        instructions: {
          entity: '12101',
          reference: '501 422 944',
          expires: '2026-12-01',
          voucher: 'https://test.adyen.com/voucher.pdf',
        },
      },
    ],
    [
      'bankTransfer_IBAN',
      {
        kind: 'accepted',
        instructions: { account_holder: 'TestMerchant', iban: 'NL13TEST0123456789', bic: 'TESTNL01', reference: 'X1' },
      },
    ],
    ['paytm', { kind: 'declined', reason: DECLINE_CAUSES.methodUnavailable.reason, isSoft: true }],
  ])('%s', async (method, outcome) => {
    expect(await submit(byBank({ method }))).toMatchObject(outcome);
  });

  test('a method that needs a script of its provider is not sent, and the check says so', async () => {
    expect(await submit(byBank({ method: 'amazonpay' }))).toMatchObject({ kind: 'declined', isSoft: true });
    expect(double.calls).toEqual([]);
    const checked = await open({ methods: { 'bank-a': 'amazonpay' } }).check?.(soon());
    expect(checked).toMatchObject({
      ok: true,
      detail: expect.stringContaining('cannot show these methods: amazonpay'),
    });
  });
});

test('a pay-later method gets the lines of the order', async () => {
  const lines = { items: [{ name: 'Teapot', quantity: 2, unitAmount: '500', amount: '1000' }] };
  expect(await submit(byBank({ method: 'klarna', lines }))).toMatchObject({ kind: 'redirected' });
  expect(double.calls.at(-1)?.body.lineItems).toEqual([
    { id: '1', description: 'Teapot', quantity: 2, amountIncludingTax: 500 },
  ]);
});

test('a repetition of a schedule is a subscription', async () => {
  const repetition = byCard({ recurringOf: newId(), isScheduled: true });
  await submit(repetition);
  expect(double.calls.at(-1)?.body.recurringProcessingModel).toBe('Subscription');
});

test('a page that could not be opened lets another connection take the payment', async () => {
  double.fault('error_500');
  await expect(submit(byBank(), hosted)).rejects.toBeInstanceOf(NotSent);
});
