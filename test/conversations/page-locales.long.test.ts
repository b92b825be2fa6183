/** The payment page in the payer’s language: labels, input and error messages. */
import { describe, expect, test } from 'vitest';
import { LANGUAGES, type Language } from '../../src/pages/locales/index.ts';
import {
  type Body,
  checkoutOf,
  type FetchedPage,
  fill,
  follow,
  inputs,
  marked,
  SUCCESS_URL,
  show,
  VCARD,
} from '../support/checkout.ts';
import { type Fields, openShop } from '../support/gateway.ts';
import { readable } from '../support/pages.ts';

const shop = openShop({ simulator: true });
const checkout = checkoutOf(shop);

const inLanguage = (language: string) => ({ headers: { 'accept-language': language } });
const submitInLanguage = (url: string, form: Fields, language: string): Promise<FetchedPage> =>
  show(url, { method: 'POST', body: new URLSearchParams(form), ...inLanguage(language) });
const p = (name: string): string => `parameters[${name}]`;
const CARD = {
  method: 'card',
  card_number: '4111111111111111',
  card_expiry: '01/38',
  card_cvv: '123',
  card_holder: 'Ada Byron',
};

describe.each(Object.entries(LANGUAGES) as [Language, (typeof LANGUAGES)[Language]][])(
  'in %s',
  (language, messages) => {
    const tag = { sr: 'sr-Latn', zh: 'zh-Hans' }[language as string] ?? language;
    const expectLanguage = ({ text }: FetchedPage): void => {
      const direction = language === 'ar' ? 'rtl' : 'ltr';
      expect(text).toContain(`<html lang="${tag}" dir="${direction}">`);
    };

    test('the choice of a method, the card form, its errors, a decline and the outcome', async () => {
      const { url } = await checkout.open({ methods: ['card', 'vcard'] });
      const choice = await show(url, inLanguage(language));
      expectLanguage(choice);
      for (const sentence of [messages.howToPay, messages.card, messages.cancel])
        expect(choice.text).toContain(sentence);

      const form = await show(`${url}?method=card`, inLanguage(language));
      expectLanguage(form);
      for (const label of [messages.cardNumber, messages.cardExpiry, messages.cardCvv, messages.cardHolder]) {
        expect(readable(form.text)).toContain(readable(label));
      }

      const wrong = await submitInLanguage(url, { method: 'card' }, language);
      expect([wrong.status, marked(wrong.text)]).toEqual([
        422,
        ['card_number', 'card_expiry', 'card_cvv', 'card_holder'],
      ]);
      for (const kind of ['noNumber', 'expiry', 'cvv', 'holder'] as const) {
        expect(readable(wrong.text)).toContain(readable(messages.cardProblems[kind]));
      }
      const mistyped = await submitInLanguage(url, { method: 'card', card_number: '4111111111111112' }, language);
      expect(readable(mistyped.text)).toContain(messages.cardProblems.number);

      await submitInLanguage(url, VCARD.decline, language);
      const declined = readable((await show(url, inLanguage(language))).text);
      expect(declined).toContain(
        readable(`${messages.declined} ${messages.noMoney} ${messages.tryAgain} ${messages.reasons.testDecline}`),
      );

      await submitInLanguage(url, VCARD.success, language);
      const paid = await show(url, inLanguage(language));
      expectLanguage(paid);
      // The name is isolated from a text in the other direction.
      expect(readable(paid.text).replace(/[\u2068\u2069]/g, '')).toContain(
        readable(`${messages.paid} ${messages.receipt.thanks.replace('{merchant}', 'Test Shop')}`),
      );
    });

    test('an invalid link', async () => {
      const page = await show(`${shop.url}/pay/nothing`, inLanguage(language));
      expectLanguage(page);
      expect(readable(page.text)).toContain(readable(`${messages.unknown} ${messages.unknownHow}`));
    });

    test('the fields of a brand and their errors', async () => {
      const { url } = await checkout.open({ methods: ['bank-a'] });
      const page = await submitInLanguage(url, { [p('bank_code')]: 'x', payer_first_name: 'Ada' }, language);
      expect(page.status).toBe(422);
      const visibleText = readable(page.text);
      for (const label of [
        'First name',
        'SWIFT code (BIC)',
        'Account number',
        '8 or 11 characters, such as DEUTDEFF',
      ]) {
        expect(visibleText).toContain((messages.fieldLabels as Record<string, string>)[label] ?? label);
      }
      expect(visibleText).toContain(messages.looksWrong);
      expect(visibleText).toContain(messages.fillIn);
      for (const raw of ['payer_first_name', 'bank_code', 'parameters', 'This value'])
        expect(visibleText).not.toContain(raw);
    });
  },
);

describe('choice of the language', () => {
  test('the account’s setting takes precedence over the browser’s', async () => {
    const { url } = await checkout.open({}, await shop.newMerchant({ locale: 'pt-BR' }));
    const { text } = await show(url, inLanguage('de'));
    expect(text).toContain('<html lang="pt-BR" dir="ltr">');
    expect(text).toContain('Como você quer pagar?');
  });

  test('formats the amount for the payer’s region', async () => {
    const { url } = await checkout.open({ order: { amount: '1234.50', currency: 'EUR' } });
    const shown = async (language: string) =>
      /<p class="amount[^>]*><bdi>(.*?)<\/bdi>/
        .exec((await show(url, inLanguage(language))).text)?.[1]
        ?.replace(/\s/g, ' ');
    expect(await shown('en')).toBe('€1,234.50');
    expect(await shown('de')).toBe('1.234,50 €');
    expect(await shown('es-MX')).toBe('EUR 1,234.50');
  });

  test('does not show the text of a provider', async () => {
    const { url, id } = await checkout.open({ methods: ['pin-a'] });
    await fill(url, { [p('pin')]: '1234567812340000' });
    const { text } = await show(url, inLanguage('fr'));
    expect(text).not.toContain('voucher');
    expect(readable(text)).toContain(`${LANGUAGES.fr.noMoney} ${LANGUAGES.fr.trySame}`);
    expect((await checkout.status({ payment_id: id })).body.reason).toBe('The voucher is used up.');
  });
});

describe('the order summary', () => {
  test('is on every page: merchant, amount, description, number and the remaining time', async () => {
    const order = { number: 'T-17', amount: '12.50', currency: 'EUR', description: 'Two teapots' };
    const { url } = await checkout.open({ order, session_expiry: 20 }, await shop.newMerchant({ name: 'Blue Teapot' }));
    for (const address of [url, `${url}?method=card`, `${url}?method=doc-a`]) {
      const { text } = await show(address);
      const visibleText = readable(text);
      for (const part of ['Blue Teapot', '€12.50', 'Two teapots', 'Order T-17', 'Time left: 20 minutes']) {
        expect(visibleText).toContain(part);
      }
      expect(text).toMatch(/<span role="timer" data-left="1(200|199)" data-soon="Less than a minute left.">/);
    }
  });

  test('is on the page of a QR code, which shows how long the code is valid and what to do afterwards', async () => {
    const merchant = await shop.newMerchant();
    const order = { currency: 'RSD', amount: '1250.00', description: 'Two teapots' };
    const { url, orderId } = await checkout.open({ methods: ['ips'], order }, merchant);
    const { text } = await follow({ ...(await fill(url, {})), url });
    for (const part of [orderId, 'RSD 1,250.00', 'Two teapots', 'The code is valid for'])
      expect(readable(text)).toContain(part);
    expect(text).toMatch(/<div class="code" role="img" aria-label="QR code of this payment"><svg/);
    await shop.advanceClock(60, merchant.mid);
    const over = await show(url);
    expect(readable(over.text)).toContain('The code has expired');
    expect(over.text).not.toContain('class="code"');
    expect(over.text).toContain('data-waits');
  });

  test('of a transfer: the receiving account, in the payer’s language', async () => {
    const { url } = await checkout.open({ methods: ['transfer-a'], order: { currency: 'ARS' } });
    await fill(url, { bank_cuil: '20-12345678-6' });
    const visibleText = readable((await show(url, inLanguage('es-AR'))).text);
    for (const part of ['Número de cuenta', 'Titular de la cuenta', 'Referencia', '$ 10,00']) {
      expect(visibleText.replace(/\s/g, ' ')).toContain(part);
    }
  });
});

describe('the card form', () => {
  test('gives every input a label, a place for its error, and an autocomplete name', async () => {
    const { text } = await show((await checkout.open({ methods: ['card'] })).url);
    const autocomplete = {
      card_number: 'cc-number',
      card_expiry: 'cc-exp',
      card_cvv: 'cc-csc',
      card_holder: 'cc-name',
    };
    expect(inputs(text)).toEqual(Object.keys(autocomplete));
    for (const [name, purpose] of Object.entries(autocomplete)) {
      const [input = ''] = new RegExp(`<input\\b[^>]*name="${name}"[^>]*>`).exec(text) ?? [];
      expect(input).toContain(`autocomplete="${purpose}"`);
      expect(input).toContain(`aria-describedby="${name}-error`);
      expect(text).toMatch(new RegExp(`<label for="${name}">[^<]+</label>`));
      expect(text).toContain(`<p class="error" id="${name}-error" hidden></p>`);
    }
    expect(text).toMatch(/<button>Pay \$10\.00<\/button>/);
  });

  test('restores the payer’s input, but never the number or the security code', async () => {
    const { url } = await checkout.open({ methods: ['card'] });
    const { status, text } = await fill(url, { ...CARD, card_number: '4111111111111112', card_expiry: '13/38' });
    expect([status, marked(text)]).toEqual([422, ['card_number', 'card_expiry']]);
    expect(text).toContain('value="13/38"');
    expect(text).toContain('value="Ada Byron"');
    expect(text).not.toMatch(/41111111|value="123"/);
  });

  test.each<[string, Body]>([
    ['with spaces and dashes', { card_number: '4111 1111-1111 1111' }],
    ['with Arabic digits', { card_number: '٤١١١ ١١١١ ١١١١ ١١١١', card_expiry: '٠١/٣٨', card_cvv: '١٢٣' }],
    ['with Thai digits', { card_number: '๔๑๑๑๑๑๑๑๑๑๑๑๑๑๑๑', card_cvv: '๑๒๓' }],
    ['with a year in full', { card_expiry: '1 / 2038' }],
  ])('accepts a card %s', async (_, fields) => {
    const { url } = await checkout.open({ methods: ['card'] });
    expect((await fill(url, { ...CARD, ...fields } as Fields)).location).toBe(SUCCESS_URL);
  });

  test('does not restore a voucher’s secret number', async () => {
    const { url } = await checkout.open({ methods: ['pin-a'] });
    const { status, text } = await fill(url, { [p('pin')]: '123456781234567' });
    expect([status, text.includes('123456781234567')]).toEqual([422, false]);
    expect(readable(text)).toContain('This is too short. Minimum number of characters: 16');
  });

  test('renders choices as a list', async () => {
    const { url } = await checkout.open({ methods: ['crypto-a'] });
    const { text } = await show(url);
    expect([...text.matchAll(/<option[^>]*>([^<]*)/g)].map(([, name]) => name)).toEqual([
      'Please choose',
      'BTC',
      'ETH',
      'USDC',
      'USDT',
    ]);
    const wrong = await fill(url, { [p('payment_currency')]: 'DOGE' });
    expect(wrong.status).toBe(422);
    expect(readable(wrong.text)).toContain('This cannot be used here. Please check it.');
  });
});

describe('saved cards', () => {
  async function withSaved(): Promise<{ url: string; id: string; cardId: string }> {
    const first = await checkout.open({ methods: ['card'], req_token: true });
    await fill(first.url, CARD);
    const { card } = (await checkout.inspect(first.id)).details;
    const { url, id } = await checkout.open({ methods: ['card'], card_token: [card.token] });
    return { url, id, cardId: card.id };
  }

  test('are offered beside a new card, with the first one selected', async () => {
    const { url, cardId } = await withSaved();
    const { text } = await show(url);
    expect(readable(text)).toContain('Your saved cards Visa ending in 1111 Valid until 01/38 Another card');
    const radios = [...text.matchAll(/<input type="radio" name="saved_card" value="([^"]*)"( checked)?>/g)];
    expect(radios.map(([, value, checked]) => [value, checked !== undefined])).toEqual([
      [cardId, true],
      ['new', false],
    ]);
    expect(text).not.toContain('411111');
  });

  test('one pays with its security code alone', async () => {
    const { url, id, cardId } = await withSaved();
    expect((await fill(url, { method: 'card', saved_card: cardId, card_cvv: '123' })).location).toBe(SUCCESS_URL);
    expect(await checkout.stateOf(id)).toBe('settled');
  });

  test('without the code only the code is marked', async () => {
    const { url, cardId } = await withSaved();
    const { status, text } = await fill(url, { method: 'card', saved_card: cardId });
    expect([status, marked(text)]).toEqual([422, ['card_cvv']]);
  });

  test('refuses one that is not offered', async () => {
    const { url, id } = await withSaved();
    const foreign = '01990000-0000-7000-8000-0123456789ab';
    const { status, text } = await fill(url, { method: 'card', saved_card: foreign, card_cvv: '123' });
    expect([status, await checkout.events(id)]).toEqual([422, ['opened']]);
    expect(readable(text)).toContain('Please check the marked field.');
  });

  test('a new card can be entered instead', async () => {
    const { url } = await withSaved();
    expect((await fill(url, { ...CARD, saved_card: 'new' })).location).toBe(SUCCESS_URL);
  });
});
