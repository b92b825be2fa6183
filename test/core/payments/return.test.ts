/** The payer's return: the address depends on the result and on the challenge, and is never unsafe. */
import { describe, expect, test } from 'vitest';
import type { Account, PaymentWithDetails } from '../../../src/core/context.ts';
import {
  cancelAddress,
  challengeTarget,
  isWebAddress,
  resultOf,
  returnAddress,
  returnTarget,
} from '../../../src/core/payments/return.ts';

const NOW = 1_800_000_000_000;
const gateway = { environment: 'sandbox', clock: { now: () => NOW } } as unknown as Parameters<typeof returnAddress>[0];
const account = (settings: object = {}): Account =>
  ({ settings: { return_parameters: false, three_ds_link_target: '', ...settings } }) as unknown as Account;
const payment = (fields: object = {}, details: object = {}): PaymentWithDetails =>
  ({
    mid: 'm',
    state: 'SETTLED',
    authorised: 0n,
    inDoubt: false,
    declineReason: null,
    ...fields,
    details: { description: '', payer: {}, ...details },
  }) as unknown as PaymentWithDetails;
const SESSION = { until: NOW + 60_000, successUrl: 'https://shop.example/thanks' };

describe('the result for the payer', () => {
  test.each<[string, object, object, string]>([
    ['settled', { state: 'SETTLED' }, {}, 'paid'],
    ['authorised', { state: 'PENDING', authorised: 1n }, {}, 'paid'],
    ['pending', { state: 'PENDING' }, {}, 'open'],
    ['pending in doubt', { state: 'PENDING', inDoubt: true }, {}, 'unknown'],
    ['in a challenge', { state: '3DS' }, {}, 'open'],
    ['declined', { state: 'DECLINED', declineReason: 'No.' }, {}, 'declined'],
    ['declined, in a session', { state: 'DECLINED', declineReason: 'No.' }, { session: SESSION }, 'declined'],
    ['declined, in a session that is over', { state: 'DECLINED' }, { session: { ...SESSION, until: NOW } }, 'expired'],
    ['out of time', { state: 'DECLINED', declineReason: 'The payer did not finish in time.' }, {}, 'expired'],
    ['never received', { state: 'DECLINED', declineReason: 'The provider never received the payment.' }, {}, 'failed'],
    ['voided', { state: 'VOID' }, {}, 'cancelled'],
    ['refunded', { state: 'REFUND' }, {}, 'cancelled'],
    ['an authorisation that expired', { state: 'EXPIRED' }, {}, 'cancelled'],
  ])('%s', (_, fields, details, expected) => {
    expect(resultOf(gateway, payment(fields, details))).toBe(expected);
  });
});

describe('an S2S sale', () => {
  const sale = payment({}, { returnUrl: 'https://shop.example/return', termUrl3ds: 'https://shop.example/3ds' });

  test('has one address, and another one after a challenge', () => {
    expect(returnAddress(gateway, sale, account())).toBe('https://shop.example/return');
    expect(returnAddress(gateway, sale, account(), { isAfterChallenge: true })).toBe('https://shop.example/3ds');
    const plain = payment({}, { returnUrl: 'https://shop.example/return' });
    expect(returnAddress(gateway, plain, account(), { isAfterChallenge: true })).toBe('https://shop.example/return');
  });

  test('returns in the window of the payment page, unless the account sets another one after a challenge', () => {
    const settings = account({ three_ds_link_target: '_parent' });
    expect(returnTarget(sale, settings)).toBeUndefined();
    expect(returnTarget(sale, settings, { isAfterChallenge: true })).toBe('_parent');
    expect(challengeTarget(settings)).toBe('_parent');
    expect(challengeTarget(account({ three_ds_link_target: 'a b' }))).toBeUndefined();
  });
});

test('after a challenge the target of the account precedes that of the session', () => {
  const whole = payment({}, { session: { ...SESSION, urlTarget: '_top' } });
  expect(returnTarget(whole, account())).toBe('_top');
  expect(returnTarget(whole, account({ three_ds_link_target: '_blank' }))).toBe('_top');
  expect(returnTarget(whole, account({ three_ds_link_target: '_blank' }), { isAfterChallenge: true })).toBe('_blank');
});

describe('the address is normalised as browsers do it, in ASCII', () => {
  test.each<[string, string]>([
    ['https://shop.example/thanks?a=1&b=%20#top', 'https://shop.example/thanks?a=1&b=%20#top'],
    ['https://shop.example/дом?имя=ü', 'https://shop.example/%D0%B4%D0%BE%D0%BC?%D0%B8%D0%BC%D1%8F=%C3%BC'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://shop.example\\@evil.example/', 'https://shop.example/@evil.example/'],
    ['https://shop.example/a b"<>', 'https://shop.example/a%20b%22%3C%3E'],
    ['https://shop.example/\u2028', 'https://shop.example/%E2%80%A8'],
  ])('%s', (given, sent) => {
    expect(returnAddress(gateway, payment({}, { returnUrl: given }), account())).toBe(sent);
  });

  test.each<[string, RegExp]>([
    ['https://shop.example', /^https:\/\/shop\.example\/\?payment_id=1&/],
    ['https://shop.example/?', /^https:\/\/shop\.example\/\?payment_id=1&/],
    ['https://shop.example/?a=%20+ü', /^https:\/\/shop\.example\/\?a=%20\+%C3%BC&payment_id=1&/],
    ['https://shop.example/#/thanks?x#y', /^https:\/\/shop\.example\/\?payment_id=1&.*#\/thanks\?x#y$/],
  ])('%s, with the parameters of the payment', (returnUrl, sent) => {
    const parameters = { ...account({ return_parameters: true }), passwords: () => ['secret'] };
    const paid = payment({ paymentId: '1', orderId: '2', amountText: '1.00', currency: 'EUR' }, { returnUrl });
    expect(returnAddress(gateway, paid, parameters)).toMatch(sent);
  });
});

describe('the hash among the parameters of the payment', () => {
  const parameters = { ...account({ return_parameters: true }), passwords: () => ['secret'] };
  const names = { paymentId: '1', orderId: '2', amountText: '1.00', currency: 'EUR' };
  const all = { ...SESSION, cancelUrl: 'https://shop.example/c', expiryUrl: 'https://shop.example/e' };
  const hasHash = (address: string | undefined): boolean => new URL(address ?? '').searchParams.has('hash');

  test.each<[string, object, boolean]>([
    ['settled', { state: 'SETTLED' }, true],
    ['authorised', { state: 'PENDING', authorised: 1n }, true],
    ['pending', { state: 'PENDING' }, false],
    ['unknown', { state: 'PENDING', inDoubt: true }, false],
    ['in a challenge', { state: '3DS' }, false],
    ['declined', { state: 'DECLINED', declineReason: 'No.' }, false],
    ['out of time', { state: 'DECLINED', declineReason: 'The payer did not finish in time.' }, false],
    ['never received', { state: 'DECLINED', declineReason: 'The provider never received the payment.' }, false],
    ['voided', { state: 'VOID' }, false],
    ['refunded', { state: 'REFUND' }, false],
  ])('of a session, %s: %s', (_, fields, expected) => {
    const whole = payment({ ...names, ...fields }, { session: all });
    expect(hasHash(returnAddress(gateway, whole, parameters))).toBe(expected);
    expect(hasHash(cancelAddress(gateway, whole, parameters))).toBe(false);
    // The same when success_url is the only address there is.
    const alone = payment({ ...names, ...fields }, { session: SESSION });
    const address = returnAddress(gateway, alone, parameters);
    if (address !== undefined) expect(hasHash(address)).toBe(expected);
  });

  test.each([false, true])('of an S2S sale, after a challenge %s: never', (isAfterChallenge) => {
    const urls = { returnUrl: 'https://shop.example/r', termUrl3ds: 'https://shop.example/t' };
    for (const fields of [{ state: 'SETTLED' }, { state: 'DECLINED' }, { state: '3DS' }]) {
      const whole = payment({ ...names, ...fields }, urls);
      expect(hasHash(returnAddress(gateway, whole, parameters, { isAfterChallenge }))).toBe(false);
    }
  });
});

describe('an address that a payer may be sent to', () => {
  test.each<[string, boolean, boolean]>([
    ['https://shop.example/', true, true],
    ['http://localhost:3000/', true, false],
    ['http://127.0.0.1/', true, false],
    ['http://[::1]:80/', true, false],
    ['http://2130706433/', true, false],
    ['http://shop.example/', false, false],
    ['http://localhost@shop.example/', false, false],
    ['https://me:secret@shop.example/', false, false],
    ['javascript:alert(1)', false, false],
    ['data:text/html,x', false, false],
    ['//shop.example', false, false],
    ['/pay', false, false],
    ['', false, false],
  ])('%s: in the sandbox %s, in production %s', (address, sandbox, production) => {
    expect(isWebAddress({ environment: 'sandbox' }, address)).toBe(sandbox);
    expect(isWebAddress({ environment: 'production' }, address)).toBe(production);
  });
});
