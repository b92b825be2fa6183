/** The pages on which a payer chooses and fills in, in every language, size and light. */
import { expect, test } from 'vitest';
import { cardForm as cardAnswers, fill } from '../support/checkout.ts';
import { ALL_LANGUAGES, expectGoodLooks, type Kind, onlooker } from './looks.ts';
import { setStage } from './stage.ts';

const stage = setStage();

/** Sends the form as it is, so that the server says what is wrong with it. */
const refused: Required<Kind>['prepare'] = async (page) => {
  await Promise.all([page.waitForEvent('load'), page.evaluate("submitForm(document.querySelector('form'))")]);
  expect(await page.evaluate("document.querySelectorAll('[aria-invalid=true]').length")).toBeGreaterThan(0);
};
const session = async (...[fields, merchant]: Parameters<typeof stage.open>): Promise<Kind> => ({
  url: (await stage.open(fields, merchant)).url,
});

test('the ways to pay, in every language', async () => {
  const page = await onlooker(stage);
  const kind = await session({ methods: ['card', 'bank-a', 'doc-a', 'crypto-a', 'upi-a'] });
  await expectGoodLooks(page, 'choice', kind, ALL_LANGUAGES);
});

test('many ways to pay, with the groups open', async () => {
  const page = await onlooker(stage);
  const open: Required<Kind>['prepare'] = async (page) => {
    expect(await page.evaluate("document.querySelectorAll('details.group').length")).toBeGreaterThan(2);
    await page.evaluate("document.querySelectorAll('details').forEach((group) => { group.open = true })");
  };
  await expectGoodLooks(page, 'choice-groups', { ...(await session({ order: { currency: 'EUR' } })), prepare: open });
});

test('a card that is wrong from top to bottom, in every language', async () => {
  const page = await onlooker(stage);
  const kind = await session({ methods: ['card'] });
  await expectGoodLooks(page, 'card-refused', { ...kind, prepare: refused }, ALL_LANGUAGES);
});

test('the form of a card, at first and after a decline', async () => {
  const page = await onlooker(stage);
  const { url } = await session({ methods: ['card', 'doc-a'] });
  await expectGoodLooks(page, 'card', { url: `${url}?method=card` });
  expect((await fill(url, cardAnswers({ card_expiry: '02/38' }))).status).toBe(303);
  await expectGoodLooks(page, 'card-declined', { url: `${url}?method=card` });
});

test('saved cards', async () => {
  const page = await onlooker(stage);
  const merchant = await stage.shop.newMerchant();
  const visa = await stage.checkout.paidByCard({}, merchant);
  const master = await stage.checkout.paidByCard({}, merchant, { card_number: '5555555555554444' });
  const kind = await session({ methods: ['card'], card_token: [visa.token, master.token] }, merchant);
  await expectGoodLooks(page, 'saved', kind);
});

test('the fields of brands: with hints, with a list, and wrong', async () => {
  const page = await onlooker(stage);
  await expectGoodLooks(page, 'fields', await session({ methods: ['bank-a'] }));
  await expectGoodLooks(page, 'fields-choice', await session({ methods: ['crypto-a'] }));
  const turkish = { billing_address: { country: 'TR' }, methods: ['agg-a'] };
  await expectGoodLooks(page, 'fields-refused', { ...(await session(turkish)), prepare: refused });
});

test('long names, descriptions and order numbers, and a colour and a logo', async () => {
  const page = await onlooker(stage);
  const logo = `${stage.origin}/logo.svg`;
  const branding = { name: `${'Bartholomew & '.repeat(6)}Sons`, logo, colour: '#ffe600' };
  const merchant = await stage.shop.newMerchant({ branding });
  const order = {
    number: 'x'.repeat(255),
    description: `${'A very long description. '.repeat(20)}${'y'.repeat(400)}`,
  };
  const { url } = await session({ methods: ['card'], order }, merchant);
  await expectGoodLooks(page, 'long', { url, others: [logo] });
  expect((await fill(url, cardAnswers())).status).toBe(303);
  await expectGoodLooks(page, 'long-paid', { url, others: [logo] });
});
