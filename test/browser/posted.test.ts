/** A provider that wants its payers to come with a form: our page sends them there with what the provider asked for. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { en } from '../../src/pages/locales/en.ts';
import type { Page, PayerOptions } from '../support/browser.ts';
import type { Session } from '../support/checkout.ts';
import { startReceiver, type TestReceiver } from '../support/receivers.ts';
import { field, isAtShop, ONCE, reads, setStage, wantForms } from './stage.ts';

const stage = setStage();
const VALUES = { token: 'a+b/c==', note: 'Tea & "more" <b>чај</b>', empty: '' };
/** The provider's door: it takes the form and shows its page. */
let door: TestReceiver;

beforeAll(async () => {
  door = await startReceiver((response, { body }) => {
    const location = new URLSearchParams(String(body)).get('page') ?? '';
    response.writeHead(303, { location }).end();
  });
  wantForms(stage, door.url, VALUES);
});
afterAll(() => door?.close());

/** A payer who has filled in what the brand needs. */
async function onTheWay(options?: PayerOptions): Promise<{ page: Page; session: Session }> {
  const page = await stage.payer(options);
  const session = await stage.visit(page, { methods: ['doc-a'] });
  door.received.length = 0;
  await field(page, 'parameters[document_number]').fill('45678912');
  await page.getByRole('button', { name: en.next }).click();
  return { page, session };
}
const decide = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();
/** Every form that came to the door. */
const posted = () =>
  door.received.map(({ method, body }) => {
    const { page, ...values } = Object.fromEntries(new URLSearchParams(String(body)));
    return { method, values, hasPage: page?.startsWith(`${stage.shop.provider?.url}/`) };
  });
const FORM = { method: 'POST', values: VALUES, hasPage: true };

test('the payer goes on by themselves, with exactly what the provider wants to know, and comes back having paid', async () => {
  const { page, session } = await onTheWay();
  await decide(page, 'Approve');
  await isAtShop(page, stage, 'thanks');
  expect(posted()).toEqual([FORM]);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
  expect(door.received[0]?.headers.referer, 'the link of the payer is told to nobody').toBeUndefined();
});

test('without scripts the payer presses the one button that there is', async () => {
  const { page, session } = await onTheWay({ javaScriptEnabled: false });
  await reads(page, en.oneMoreStep);
  expect([await page.getByRole('button').count(), posted()]).toEqual([1, []]);
  await page.getByRole('button', { name: en.next }).click();
  await decide(page, 'Approve');
  await isAtShop(page, stage, 'thanks');
  expect(posted()).toEqual([FORM]);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});

test('who goes back is not sent there again by itself, and can go on or back to the shop', async () => {
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

test('who is back too early goes on with the same form', async () => {
  const { page, session } = await onTheWay();
  await decide(page, 'Walk away without paying');
  await reads(page, en.unfinished);
  await page.getByRole('button', { name: en.openAgain }).click();
  await decide(page, 'Approve');
  await isAtShop(page, stage, 'thanks');
  expect(posted()).toEqual([FORM, FORM]);
  expect(await stage.paidTimes(session)).toEqual(ONCE);
});
