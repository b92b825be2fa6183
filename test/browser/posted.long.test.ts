/** A provider that expects a redirect by POST: the page submits a form with the provider's parameters. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page, PayerOptions } from '../support/browser.ts';
import type { Session } from '../support/checkout.ts';
import { startReceiver, type TestReceiver } from '../support/receivers.ts';
import { decide, field, isAtShop, ONCE, reads, setStage, wantForms } from './stage.ts';

const stage = setStage();
const VALUES = { token: 'a+b/c==', note: 'Tea & "more" <b>чај</b>', empty: '' };
/** The provider's page that receives the form. */
let door: TestReceiver;

beforeAll(async () => {
  door = await startReceiver((response, { body }) => {
    const location = new URLSearchParams(String(body)).get('page') ?? '';
    response.writeHead(303, { location }).end();
  });
  wantForms(stage, door.url, VALUES);
});
afterAll(() => door?.close());

/** A payer who has filled in the brand fields. */
async function onTheWay(options?: PayerOptions): Promise<{ page: Page; session: Session }> {
  const page = await stage.payer(options);
  const session = await stage.visit(page, { methods: ['doc-a'] });
  door.received.length = 0;
  await field(page, 'parameters[document_number]').fill('45678912');
  await page.getByRole('button', { name: en.next }).click();
  return { page, session };
}
/** Every form that the provider received. */
const posted = () =>
  door.received.map(({ method, body }) => {
    const { page, ...values } = Object.fromEntries(new URLSearchParams(String(body)));
    return { method, values, hasPage: page?.startsWith(`${stage.shop.provider?.url}/`) };
  });
const FORM = { method: 'POST', values: VALUES, hasPage: true };

test('the page submits exactly the provider’s parameters by itself, and the payer returns after paying', async () => {
  const { page, session } = await onTheWay();
  await decide(page, 'Approve');
  await isAtShop(page, stage, 'thanks');
  expect(posted()).toEqual([FORM]);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
  expect(door.received[0]?.headers.referer, 'the link of the payer is told to nobody').toBeUndefined();
});

test('without JavaScript the payer presses the button', async () => {
  const { page, session } = await onTheWay({ javaScriptEnabled: false });
  await reads(page, en.oneMoreStep);
  expect([await page.getByRole('button').count(), posted()]).toEqual([2, []]);
  await page.getByRole('button', { name: en.next }).click();
  await decide(page, 'Approve');
  await isAtShop(page, stage, 'thanks');
  expect(posted()).toEqual([FORM]);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a payer who goes back is not redirected again, and can continue or return to the shop', async () => {
  const { page, session } = await onTheWay();
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.goBack();
  await reads(page, en.oneMoreStep);
  await page.getByRole('link', { name: en.cancel }).click();
  await isAtShop(page, stage, 'basket');
  await page.goBack();
  await page.getByRole('button', { name: en.next }).click();
  await decide(page, 'Approve');
  await isAtShop(page, stage, 'thanks');
  expect(posted()).toEqual([FORM, FORM]);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('a payer who returns too early continues with the same form', async () => {
  const { page, session } = await onTheWay();
  await decide(page, 'Leave without paying');
  await reads(page, en.unfinished);
  await page.getByRole('button', { name: en.openAgain }).click();
  await decide(page, 'Approve');
  await isAtShop(page, stage, 'thanks');
  expect(posted()).toEqual([FORM, FORM]);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});
