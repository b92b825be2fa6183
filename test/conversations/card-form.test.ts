/** The card form without scripts: checks by network, accepted networks, what a decline keeps and says, saving a card. */
import { describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/pages/locales/index.ts';
import { DECLINE_CAUSES, type DeclineCause, REASONS } from '../../src/rules/reasons.ts';
import {
  type Body,
  cardForm,
  checkoutOf,
  type FetchedPage,
  fill,
  inputs,
  marked,
  SUCCESS_URL,
  show,
  submitPage,
} from '../support/checkout.ts';
import { type Fields, type Merchant, openShop } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);
const { en, de } = LANGUAGES;
const CARD = { methods: ['card'] };

const tryCard = async (form: Fields, merchant?: Merchant) =>
  fill((await checkout.open(CARD, merchant)).url, cardForm(form));
const AMEX = { card_number: '3782 822463 10005', card_cvv: '1234' };

describe('a new card', () => {
  test.each<[string, Fields]>([
    ['of American Express, with a code of four digits', AMEX],
    ['of American Express, in the sandbox with any code', { ...AMEX, card_cvv: '123' }],
    ['of Diners Club, with 14 digits', { card_number: '3056 930902 5904' }],
    ['of Maestro, with 12 digits', { card_number: '501800000009' }],
    ['of Troy', { card_number: '9792 0303 9444 0796' }],
    ['of no known network', { card_number: '9000 0000 0000 0001', card_cvv: '1234' }],
    ['with a date without a separator', { card_expiry: '0138' }],
    ['with a date and dashes', { card_expiry: '1-2038' }],
  ])('%s is accepted', async (_, form) => {
    expect((await tryCard(form)).location).toBe(SUCCESS_URL);
  });

  test.each<[string, Fields, field: string, sentence: string]>([
    ['a code of two digits', { card_cvv: '12' }, 'card_cvv', 'Please fill in the 3 digits of the security code.'],
    [
      'a code of two digits',
      { ...AMEX, card_cvv: '12' },
      'card_cvv',
      'Please fill in the 4 digits of the security code.',
    ],
    ['eleven digits', { card_number: '41111111114' }, 'card_number', en.cardProblems.number],
    ['a wrong check digit', { card_number: '4111111111111112' }, 'card_number', en.cardProblems.number],
    ['a month after December', { card_expiry: '13/38' }, 'card_expiry', en.cardProblems.expiry],
    ['half a date', { card_expiry: '05/3' }, 'card_expiry', en.cardProblems.expiry],
    ['a date in the past', { card_expiry: '05/20' }, 'card_expiry', en.cardProblems.expired],
  ])('with %s is refused beside the field', async (_, form, field, sentence) => {
    const { status, text } = await tryCard(form);
    expect([status, marked(text)]).toEqual([422, [field]]);
    expect(readable(text)).toContain(sentence);
  });
});

describe('the accepted networks', () => {
  const rowOf = (text: string): string[] =>
    [...text.matchAll(/<li data-network="(\w+)"/g)].map(([, name]) => name as string);

  test('are worldwide ones by default, and those of the account otherwise', async () => {
    const worldwide = ['visa', 'mastercard', 'amex', 'maestro', 'diners', 'discover', 'jcb', 'unionpay'];
    expect(rowOf((await show((await checkout.open(CARD)).url)).text)).toEqual(worldwide);
    const merchant = await shop.newMerchant({ card_networks: ['troy', 'visa'] });
    const { text } = await show((await checkout.open(CARD, merchant)).url);
    expect(rowOf(text)).toEqual(['troy', 'visa']);
    expect(text).toContain('aria-label="Accepted cards"');
  });

  test('refuse a card of another network, and nothing is sent', async () => {
    const merchant = await shop.newMerchant({ card_networks: ['visa'] });
    const { url, id } = await checkout.open(CARD, merchant);
    const { status, text } = await fill(url, cardForm(AMEX));
    expect([status, marked(text), await checkout.events(id)]).toEqual([422, ['card_number'], ['opened']]);
    expect(readable(text)).toContain('American Express is not accepted here. Please use another card.');
    expect((await fill(url, cardForm())).location).toBe(SUCCESS_URL);
  });
});

describe('after a decline', () => {
  const declined = async (session: Body = CARD, form: Fields = {}) => {
    const { url, id } = await checkout.open(session);
    const sent = await fill(url, cardForm({ card_expiry: '02/38', card_holder: 'Ada <Byron>', ...form }));
    return { url, id, sent, cookie: cookieOf(sent) };
  };
  const cookieOf = ({ headers }: FetchedPage): string => headers.get('set-cookie') ?? '';
  const withCookie = (cookie: string) => ({ cookie: cookie.split(';')[0] as string });
  const shownWith = (url: string, cookie: string) => show(url, { headers: withCookie(cookie) });
  /** The form as a page shows it with the card kept: without a number. */
  const AGAIN = { method: 'card', saved_card: 'kept', card_expiry: '01/38', card_cvv: '123', card_holder: 'Ada Byron' };
  const KEPT = '<input type="radio" name="saved_card" value="kept" checked>';
  const REMOVED = /^turnpike_card_form=; .*Max-Age=0$/;

  test('the form has the card, the name and the expiry, but neither the number nor the code', async () => {
    const { url, sent, cookie } = await declined();
    expect(sent.location).toBe(new URL(url).pathname);
    expect(cookie).toMatch(
      new RegExp(`^turnpike_card_form=[\\w-]+; Path=${new URL(url).pathname}; HttpOnly; SameSite=Lax; Max-Age=900$`),
    );
    const { text } = await shownWith(url, cookie);
    expect(text).toContain('value="Ada &lt;Byron&gt;"');
    expect(text).toContain('value="02/38"');
    expect(text).toContain(`${KEPT}<span>Visa ending in 1111</span>`);
    expect(inputs(text)).toEqual([
      ...['saved_card', 'saved_card'],
      ...['card_number', 'card_expiry', 'card_cvv', 'card_holder'],
    ]);
    expect(text).not.toMatch(/411111|4111 1111|value="123"/);
  });

  test('only the code has to be entered again, or what was wrong', async () => {
    const { url, cookie } = await declined();
    const wrong = await fill(url, { ...AGAIN, card_cvv: '', card_expiry: '01/20' }, withCookie(cookie));
    expect([wrong.status, marked(wrong.text)]).toEqual([422, ['card_expiry', 'card_cvv']]);
    expect(wrong.text).toContain(KEPT);
    const paid = await fill(url, AGAIN, withCookie(cookie));
    expect([paid.location, cookieOf(paid)]).toEqual([SUCCESS_URL, expect.stringMatching(REMOVED)]);
  });

  test('the card is submitted as it was entered, with its network and its code', async () => {
    const { url, id, cookie } = await declined(CARD, AMEX);
    const shown = await shownWith(url, cookie);
    expect(readable(shown.text)).toContain('American Express ending in 0005');
    expect(shown.text).toContain('<label class="saved" data-code="4">');
    expect(readable((await fill(url, { ...AGAIN, card_cvv: '12' }, withCookie(cookie))).text)).toContain(
      'Please fill in the 4 digits of the security code.',
    );
    await fill(url, { ...AGAIN, card_cvv: '1234' }, withCookie(cookie));
    const [newest = ''] = await checkout.attempts((await checkout.inspect(id)).order_id);
    expect((await checkout.inspect(newest)).details.card.masked).toBe('378282*****0005');
  });

  test('another card pays instead', async () => {
    const { url, cookie } = await declined();
    const form = cardForm({ saved_card: 'new', card_number: '5555 5555 5555 4444' });
    expect((await fill(url, form, withCookie(cookie))).location).toBe(SUCCESS_URL);
  });

  test('a network that is not accepted any more is refused at the choice of the card', async () => {
    const merchant = await shop.newMerchant();
    const { url } = await checkout.open(CARD, merchant);
    const cookie = cookieOf(await fill(url, cardForm({ card_expiry: '02/38' })));
    await shop.admin('PATCH', `/accounts/${merchant.mid}`, { card_networks: ['mastercard'] });
    const { status, text } = await fill(url, AGAIN, withCookie(cookie));
    expect([status, marked(text)]).toEqual([422, []]);
    expect(text).toMatch(/id="saved_card-error">Visa is not accepted here/);
  });

  test.each([
    ['without the cookie', ''],
    ['with a forged cookie', `turnpike_card_form=${'A'.repeat(200)}`],
  ])('%s the card that was kept is refused, by page and for the script; nothing is submitted', async (_, cookie) => {
    const { url, id } = await declined();
    const { status, text } = await fill(url, AGAIN, { cookie });
    expect(status).toBe(422);
    expect(readable(text)).toContain(en.cardProblems.saved);
    expect(text).not.toContain('value="kept"');
    const answer = JSON.parse((await fill(url, { ...AGAIN, answer: 'json' }, { cookie })).text);
    expect(answer.problems).toEqual({ saved_card: en.cardProblems.saved });
    expect(await checkout.attempts((await checkout.inspect(id)).order_id)).toHaveLength(1);
  });

  test('that follows a challenge, in any attempt, the form has the card', async () => {
    const { url, id } = await checkout.open(CARD);
    const { pathname } = new URL(url);
    const challenged = async (form: Fields, cookie: string) => {
      const sent = await fill(url, form, withCookie(cookie));
      const challenge = await show(new URL(sent.location, url).href);
      const bank = await submitPage(challenge, { threeDSSessionData: '' });
      const { location, headers } = await submitPage(await submitPage(bank, { code: '1234' }));
      return { cookie: cookieOf(sent), location, removal: headers.get('set-cookie') };
    };
    const first = await challenged(cardForm({ card_expiry: '06/38' }), '');
    expect((await shownWith(url, first.cookie)).text).toContain(KEPT);
    const second = await challenged({ ...AGAIN, card_expiry: '06/38' }, first.cookie);
    expect([first, second].map(({ location, removal }) => [location, removal])).toEqual(
      Array(2).fill([pathname, null]),
    );
    expect((await shownWith(url, second.cookie)).text).toContain(KEPT);
    expect(await checkout.stateOf(id)).toBe('decline');
    const paid = await challenged({ ...AGAIN, card_expiry: '05/38' }, second.cookie);
    expect([paid.location, paid.removal]).toEqual([
      SUCCESS_URL,
      `turnpike_card_form=; Path=${pathname}; HttpOnly; SameSite=Lax; Max-Age=0`,
    ]);
  });

  test('a payer who leaves the challenge for another card can choose the first one again', async () => {
    const { url } = await checkout.open(CARD);
    const cookie = cookieOf(await fill(url, cardForm({ card_expiry: '05/38' })));
    await fill(`${url}/leave`, {});
    const { text } = await shownWith(url, cookie);
    expect(text).toContain('name="saved_card" value="kept"><span>Visa ending in 1111');
    expect(text).toContain('name="saved_card" value="new" checked>');
  });

  test('of another method, or of a saved card, nothing is kept any more', async () => {
    const { url, cookie } = await declined({ methods: ['card', 'vcard'] });
    const other = await fill(url, { method: 'vcard', identifier: 'decline@example.com' }, withCookie(cookie));
    expect(cookieOf(other)).toMatch(REMOVED);
  });

  test('of a telephone order the number is not kept', async () => {
    const merchant = await shop.newMerchant({ telephone_orders: true });
    const { body } = await shop.admin('POST', '/telephone-orders', {
      ...{ mid: merchant.mid, amount: '10.00', currency: 'USD', description: 'Tea' },
    });
    const cookie = cookieOf(await fill(body.url, cardForm({ card_expiry: '02/38' })));
    const { text } = await shownWith(body.url, cookie);
    expect(text).toContain('value="02/38"');
    expect(text).not.toContain('value="kept"');
  });

  test('only the browser that sent the card sees them, for 15 minutes, on this page', async () => {
    const { url, cookie } = await declined();
    const other = await checkout.open(CARD);
    await fill(other.url, cardForm({ card_expiry: '02/38' }));
    for (const [address, sent] of [
      [url, ''],
      [url, cookie.replace(/=..../, '=AAAA')],
      [url, 'turnpike_card_form=x'],
      [other.url, cookie],
    ] as const)
      expect((await shownWith(address, sent)).text).not.toMatch(/Byron|ending in/);
    expect((await shownWith(url, cookie)).text).toContain('ending in 1111');
    await shop.advanceClock(901);
    expect((await shownWith(url, cookie)).text).not.toMatch(/Byron|ending in/);
    expect((await fill(url, AGAIN, withCookie(cookie))).status).toBe(422);
  });

  test('nothing of the card is in the cookie as text, in the payment or in the logs', async () => {
    const { id, cookie } = await declined();
    const value = Buffer.from(/=([\w-]+)/.exec(cookie)?.[1] ?? '', 'base64url').toString('latin1');
    expect(value).not.toMatch(/Byron|02\/38|4111/);
    expect(JSON.stringify(await checkout.inspect(id))).not.toContain('Byron');
    expect(shop.logs.join('')).not.toMatch(/Byron|turnpike_card_form/);
  });

  test('a success keeps nothing, and removes what was kept', async () => {
    const { url, cookie } = await declined();
    const paid = await fill(url, cardForm());
    expect(paid.location).toBe(SUCCESS_URL);
    const after = await shownWith(url, cookie);
    expect(cookieOf(after)).toMatch(REMOVED);
    expect(after.text).not.toContain('Byron');
  });
});

describe('the reason of a decline', () => {
  /** A session whose payment was declined for this reason. */
  const pageWith = async (reason: string, language = 'en') => {
    const { url, id } = await checkout.open(CARD);
    await fill(url, cardForm({ card_expiry: '02/38' }));
    await shop.rows(
      `update payments set decline_reason = '${reason.replaceAll("'", "''")}' where payment_id = '${id}'`,
    );
    return readable((await show(url, { headers: { 'accept-language': language } })).text);
  };

  const HIDDEN: Partial<Record<DeclineCause, keyof typeof en.cardForm>> = {
    lostOrStolen: 'refusedByBank',
    suspectedFraud: 'refusedByBank',
    revoked: 'refusedByBank',
    duplicate: 'refusedByBank',
    methodUnavailable: 'providerRefused',
  };
  // A payer who cancelled is not told of a decline.
  const CAUSES = (Object.keys(DECLINE_CAUSES) as DeclineCause[]).filter(
    (cause) => cause !== 'outOfTime' && cause !== 'cancelledByPayer',
  );

  test.each(CAUSES)('%s is a sentence that says what to do next, in the language of the payer', async (cause) => {
    const { reason } = DECLINE_CAUSES[cause];
    const shown = await pageWith(reason, 'de');
    expect(shown).toContain(de.cardForm[HIDDEN[cause] ?? (cause as keyof typeof de.cardForm)]);
    expect(shown).toContain(de.noMoney);
    expect(shown).not.toContain(reason);
    expect(shown).not.toContain(de.tryCard);
  });

  test('is no decline for a payer who cancelled', async () => {
    const shown = await pageWith(DECLINE_CAUSES.cancelledByPayer.reason, 'de');
    expect(shown).toContain(de.challenge.left);
    expect(shown).not.toContain(de.declined);
  });

  test('of a lost or stolen card, or of a suspicion, is not told', async () => {
    for (const cause of ['lostOrStolen', 'suspectedFraud'] as const) {
      const shown = await pageWith(DECLINE_CAUSES[cause].reason);
      expect(shown).toContain('Your bank refused the payment. Ask your bank, or use another card.');
      expect(shown).not.toMatch(/lost|stolen|fraud|suspicion/i);
    }
  });

  test.each(['05: DO NOT HONOUR <b>', 'Insufficient funds', 'constructor', ''])(
    'that only the provider knows is not shown: %j',
    async (reason) => {
      const shown = await pageWith(reason);
      expect(shown).toContain(`${en.noMoney} ${en.tryCard}`);
      if (reason) expect(shown).not.toContain(reason);
    },
  );

  test('of the gateway itself is translated, with the usual advice', async () => {
    const shown = await pageWith(REASONS.testDecline, 'de');
    expect(shown).toContain(`${de.noMoney} ${de.tryCard} ${de.reasons.testDecline}`);
  });
});

describe('saving a card', () => {
  const ASK = { ...CARD, req_token: true, token_consent_required: true };
  const tokenOf = async (id: string) => (await checkout.status({ payment_id: id })).body.card_token;

  test('is offered as a box that is not ticked; without a tick there is no token and no consent', async () => {
    const { url, id } = await checkout.open(ASK);
    const { text } = await show(url);
    expect(text).toContain('<input type="checkbox" name="save_card" value="Y">');
    expect(readable(text)).toContain('To have the card removed, contact Test Shop.');
    await fill(url, cardForm());
    expect([await tokenOf(id), (await checkout.inspect(id)).details.consent]).toEqual([undefined, undefined]);
    const [row] = await shop.rows(`select is_kept, sealed from cards where payment_id = '${id}'`);
    expect(row).toEqual({ is_kept: false, sealed: null });
  });

  test('with a tick there is a token, and the payment records when and to what the payer agreed', async () => {
    const { url, id } = await checkout.open(ASK);
    await fill(url, cardForm({ save_card: 'Y' }));
    expect(await tokenOf(id)).toMatch(/^[0-9a-f]{48}$/);
    expect((await checkout.inspect(id)).details.consent).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      text:
        'Save this card for my next payments to Test Shop. The number, the expiry date and the name are stored encrypted; ' +
        'the security code is not stored. To have the card removed, contact Test Shop.',
    });
  });

  test('the tick survives a wrong field, and is asked for again after a decline', async () => {
    const { url } = await checkout.open(ASK);
    expect((await fill(url, cardForm({ save_card: 'Y', card_cvv: '1' }))).text).toContain(
      'name="save_card" value="Y" checked',
    );
    await fill(url, cardForm({ save_card: 'Y', card_expiry: '02/38' }));
    expect((await show(url)).text).toContain('name="save_card" value="Y">');
  });

  test('both consents are recorded where a session asks for both', async () => {
    const { url, id } = await checkout.open({ ...ASK, recurring_init: true, recurring_consent_required: true });
    await fill(url, cardForm({ save_card: 'Y', consent: 'Y' }));
    const { text } = (await checkout.inspect(id)).details.consent;
    expect(text).toMatch(/I agree that Test Shop charges me again.*Save this card/);
  });

  test('a merchant that requires a token gets it, and the page says so', async () => {
    const { url, id } = await checkout.open({ ...CARD, req_token: true });
    const { text } = await show(url);
    expect(text).not.toContain('save_card');
    expect(readable(text)).toContain('This card is saved for your next payments to Test Shop.');
    await fill(url, cardForm());
    expect(await tokenOf(id)).toMatch(/^[0-9a-f]{48}$/);
  });

  test('a session without a token offers nothing, whatever the form contains', async () => {
    const { url, id } = await checkout.open({ ...CARD, token_consent_required: true });
    expect((await show(url)).text).not.toMatch(/save_card|class="saving/);
    await fill(url, cardForm({ save_card: 'Y' }));
    expect([await tokenOf(id), (await checkout.inspect(id)).details.consent]).toEqual([undefined, undefined]);
  });
});
