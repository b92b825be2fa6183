/** Parameters of a session apply to the brand that the payer chooses, as in a sale. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Connector, Submission } from '../../src/connectors/connector.ts';
import type { Deadline } from '../../src/lib/time/deadline.ts';
import {
  type Body,
  checkoutOf,
  choices,
  fill,
  follow,
  inputs,
  NO_METHOD_FITS_MESSAGE,
  type Session,
  SUCCESS_URL,
  sessionFields,
  show,
  VCARD,
} from '../support/checkout.ts';
import { type Fields, saleFields, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';

let shop: TestGateway;
let checkout: ReturnType<typeof checkoutOf>;
/** The fields of the brand that the provider received. */
let submitted: { reference: string; parameters: unknown }[] = [];
beforeAll(async () => {
  shop = await startTestGateway({ simulator: true });
  checkout = checkoutOf(shop);
  const upstream = shop.gateway.connectors.upstream as Connector;
  const submit = (submission: Submission, deadline: Deadline) => {
    submitted.push({ reference: submission.reference, parameters: submission.parameters() });
    return upstream.submit(submission, deadline);
  };
  shop.gateway.connectors = { ...shop.gateway.connectors, upstream: { ...upstream, submit } };
});
afterAll(() => shop.close());
afterEach(() => {
  submitted = [];
});

const SORT_CODE = { type: 'SORT_CODE', identification: '20-00-00' };
const ACCOUNT = { type: 'ACCOUNT_NUMBER', identification: '31926819' };
const PAYEE = { payee_name: 'Tea House', payee_country: 'GB', payee_identifications: [SORT_CODE, ACCOUNT] };
const PIN = '1234567812345678';
const USED_UP = '1234567812340000';
const LIST = 'parameters[payee_identifications]';

const bankSession = (payee: Body = {}, fields: Body = {}): Promise<Session> =>
  checkout.open({ methods: ['open-banking-a'], parameters: { 'open-banking-a': { ...PAYEE, ...payee } }, ...fields });
const pinSession = (pin: unknown, fields: Body = {}): Promise<Session> =>
  checkout.open({ methods: ['pin-a'], parameters: { 'pin-a': { pin } }, ...fields });
/** Chooses the only method, with nothing to fill in. */
const pay = ({ url }: Session, method: string) => fill(url, { method });
const decide = (page: string, decision: string) => fill(page, { decision });

describe('open-banking-a', () => {
  test('as the only method, it is offered and asks for nothing; its provider gets the same fields as in a sale', async () => {
    const session = await bankSession();
    const page = await show(session.url);
    expect([page.status, inputs(page.text)]).toEqual([200, []]);
    expect(readable(page.text)).not.toContain('This payment cannot be made here');
    const { status, location } = await pay(session, 'open-banking-a');
    expect([status, location.startsWith(`${shop.provider?.url}/pay/`)]).toEqual([303, true]);
    expect(submitted).toEqual([{ reference: session.id, parameters: PAYEE }]);

    const { body } = await shop.post(
      saleFields(shop.merchant, {
        ...{ brand: 'open-banking-a', identifier: '', 'parameters[payee_name]': 'Tea House' },
        ...{ 'parameters[payee_country]': 'GB', [`${LIST}[0][type]`]: 'SORT_CODE' },
        ...{ [`${LIST}[0][identification]`]: '20-00-00', [`${LIST}[1][type]`]: 'ACCOUNT_NUMBER' },
        [`${LIST}[1][identification]`]: '31926819',
      }),
    );
    expect(submitted[1]).toEqual({ reference: body.trans_id, parameters: PAYEE });

    const back = await decide(location, 'approve');
    expect(await show(back.location)).toMatchObject({ status: 303, location: SUCCESS_URL });
    expect(await checkout.stateOf(session.id)).toBe('settled');
  });

  test('declined, it can be tried again: another payment, with the same fields', async () => {
    const session = await bankSession({}, { methods: ['open-banking-a', 'vcard'] });
    const { location } = await pay(session, 'open-banking-a');
    const declined = await follow(await decide(location, 'decline'));
    expect(readable(declined.text)).toContain('The payment was declined');
    expect(choices(declined.text)).toContain('open-banking-a');
    await pay(session, 'open-banking-a');
    const [second = '', first] = await checkout.attempts(session.orderId);
    expect([first, second === first]).toEqual([session.id, false]);
    expect(submitted).toEqual([first, second].map((reference) => ({ reference, parameters: PAYEE })));
  });

  test('keeps its fields when another method was declined first', async () => {
    const session = await bankSession({}, { methods: ['open-banking-a', 'vcard'] });
    await fill(session.url, VCARD.decline);
    await pay(session, 'open-banking-a');
    expect(submitted).toEqual([
      { reference: (await checkout.attempts(session.orderId))[0] as string, parameters: PAYEE },
    ]);
  });

  test('the payer cannot replace or extend the list', async () => {
    const session = await bankSession();
    const mine = { [`${LIST}[0][identification]`]: '99-99-99', [`${LIST}[2][type]`]: 'PAN', [LIST]: 'x' };
    await fill(session.url, { method: 'open-banking-a', ...mine } as Fields);
    expect(submitted[0]?.parameters).toEqual(PAYEE);
  });

  test.each<[string, unknown]>([
    ['with numeric keys, as some languages encode it', { 1: ACCOUNT, 0: SORT_CODE }],
    ['with a null item', [SORT_CODE, null, ACCOUNT]],
    ['with unknown members', [{ ...SORT_CODE, note: 'x' }, ACCOUNT]],
    ['with numbers', [SORT_CODE, { ...ACCOUNT, identification: 31926819 }]],
  ])('accepts a list %s', async (_, payee_identifications) => {
    const session = await bankSession({ payee_identifications });
    await pay(session, 'open-banking-a');
    expect(submitted).toEqual([{ reference: session.id, parameters: PAYEE }]);
  });

  const [BLANK, NO_LIST] = ['This value should not be blank.', 'This value should be a list of objects.'];
  test.each<[string, unknown, string]>([
    ['missing', undefined, `: ${BLANK}`],
    ['empty', [], `: ${BLANK}`],
    ['a text', 'GB29NWBK60161331926819', `: ${NO_LIST}`],
    ['of texts', ['GB29NWBK60161331926819'], `[0][type]: ${BLANK}`],
    ['of lists', [[SORT_CODE]], `[0][type]: ${BLANK}`],
    ['one object', SORT_CODE, `: ${NO_LIST}`],
    [
      'with an unknown type',
      [{ ...SORT_CODE, type: 'SWIFT' }],
      '[0][type]: The value you selected is not a valid choice.',
    ],
    ['with a type that is a list', [{ ...SORT_CODE, type: ['SORT_CODE'] }], `[0][type]: ${BLANK}`],
    ['without a type', [{ identification: '20-00-00' }], `[0][type]: ${BLANK}`],
    ['without an identification', [SORT_CODE, { type: 'BIC' }], `[1][identification]: ${BLANK}`],
    [
      'with an identification that does not match its type',
      [SORT_CODE, { type: 'IBAN', identification: 'GB29' }],
      '[1][identification]: This value is not valid.',
    ],
  ])('a list that is %s: the method is neither offered nor accepted', async (_, payee_identifications, problem) => {
    const parameters = { 'open-banking-a': { ...PAYEE, payee_identifications } };
    const alone = sessionFields({ methods: ['open-banking-a'], parameters });
    const { status, body } = await checkout.send('session', alone);
    const sentences = body.errors.map(({ error_message }: { error_message: string }) => error_message);
    expect([status, sentences.slice(0, 2)]).toEqual([
      400,
      [NO_METHOD_FITS_MESSAGE, `parameters.open-banking-a.payee_identifications${problem}`],
    ]);
    const session = await bankSession({ payee_identifications }, { methods: ['open-banking-a', 'vcard'] });
    await pay(session, 'open-banking-a');
    expect([submitted, await checkout.events(session.id)]).toEqual([[], ['opened']]);
  });
});

describe('pin-a', () => {
  test('does not ask for a PIN that the merchant sent, and does not show it on the page', async () => {
    const session = await pinSession(PIN);
    const { text } = await show(session.url);
    expect([inputs(text), text.includes(PIN)]).toEqual([[], false]);
    expect(await pay(session, 'pin-a')).toMatchObject({ status: 303, location: SUCCESS_URL });
    expect(submitted).toEqual([{ reference: session.id, parameters: { pin: PIN } }]);
  });

  test('an invalid PIN: the method is not offered', async () => {
    const session = await pinSession('123', { methods: ['pin-a', 'vcard', 'doc-a'] });
    expect(choices((await show(session.url)).text)).toEqual(['vcard', 'doc-a']);
  });

  test.each([[null], [''], [[]], [{}], [[PIN]]])('%j counts as no PIN: the payer is asked for it', async (pin) => {
    const session = await pinSession(pin);
    expect(inputs((await show(session.url)).text)).toEqual(['parameters[pin]']);
    expect((await checkout.inspect(session.id)).details.session.sealed).toBeUndefined();
  });

  test('applies to its own brand only, under any alias of the account', async () => {
    const merchant = await shop.newMerchant({ brand_aliases: { Voucher: 'pin-a' } });
    const parameters = { Voucher: { pin: PIN }, 'doc-a': { document_number: '17' } };
    const { url, id } = await checkout.open({ methods: ['Voucher', 'doc-a'], parameters }, merchant);
    await fill(url, { method: 'doc-a' });
    expect(submitted).toEqual([{ reference: id, parameters: { document_number: '17' } }]);
    const other = await checkout.open({ methods: ['Voucher'], parameters }, merchant);
    await fill(other.url, { method: 'pin-a' });
    expect(submitted[1]).toEqual({ reference: other.id, parameters: { pin: PIN } });
  });
});

describe('a secret field', () => {
  test('is in no row, page, log or view, before and after a decline', async () => {
    const session = await pinSession(USED_UP, {
      ...{ methods: ['pin-a', 'open-banking-a'] },
      parameters: { 'pin-a': { pin: USED_UP }, 'open-banking-a': PAYEE },
    });
    const { details } = await checkout.inspect(session.id);
    expect(details.session).toMatchObject({
      parameters: { 'pin-a': {}, 'open-banking-a': { payee_name: 'Tea House', payee_country: 'GB' } },
      sealed: '***',
    });
    expect(details.sealed).toBeUndefined();
    const pages = [await show(session.url), await pay(session, 'pin-a'), await show(session.url)];
    await pay(session, 'open-banking-a');
    const ids = await checkout.attempts(session.orderId);
    expect([ids.length, submitted.length]).toEqual([2, 2]);
    const views = await Promise.all(ids.map(checkout.inspect));
    for (const view of views) expect([view.details.sealed, view.details.session.sealed]).toEqual(['***', '***']);
    const rows = await shop.rows(
      `select p.details, h.* from payments p join history h using (mid, payment_id)
        where payment_id in (${ids.map((id) => `'${id}'`).join()})`,
    );
    for (const secret of [USED_UP, '20-00-00', '31926819']) {
      expect(JSON.stringify([pages.map(({ text }) => text), views, rows])).not.toContain(secret);
      expect(shop.logs.filter((line) => line.includes(secret))).toEqual([]);
    }
  });

  test('is bound to its session: a copy in another session cannot be opened', async () => {
    const [mine, yours] = [await pinSession(PIN), await pinSession(USED_UP)];
    await shop.rows(`update payments t set details = jsonb_set(t.details, '{session,sealed}', m.details #> '{session,sealed}')
      from payments m where m.payment_id = '${mine.id}' and t.payment_id = '${yours.id}'`);
    const { status, headers } = await show(yours.url);
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    expect((await show(mine.url)).status).toBe(200);
  });

  test.each([
    ['payout-a', { SecurityQuestion: 'What was the name of the dog?', SecurityQuestionAnswer: 'Rex' }],
    ['wallet-a', { paymentToken: '{}' }],
  ])('is not stored for %s, which no payer can choose', async (label, given) => {
    const { id } = await checkout.open({ parameters: { [label]: given } });
    expect((await checkout.inspect(id)).details.session.sealed).toBeUndefined();
  });

  test('counts when a request is repeated: an identical request gets the same page, another PIN is another request', async () => {
    const { request, url } = await pinSession(PIN);
    expect((await checkout.sendBody('session', request)).body.redirect_url).toBe(url);
    const other = { ...request, parameters: { 'pin-a': { pin: USED_UP } } };
    expect((await checkout.sendBody('session', other)).status).toBe(400);
  });
});
