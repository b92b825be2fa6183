/** What the codes of each provider mean: the class of a decline, and whether the payment may go elsewhere. */
import { expect, test } from 'vitest';
import { refusalOf } from '../../src/connectors/adyen/declines.ts';
import { declinedBy, type StripeDecline } from '../../src/connectors/stripe/declines.ts';
import { interpretNotification } from '../../src/connectors/upstream.ts';

type Meaning = [declineClass: string, isSoft: boolean, code: string | undefined];

test.each<[StripeDecline, Meaning]>([
  [{ code: 'card_declined', decline_code: 'insufficient_funds' }, ['funds', false, 'insufficient_funds']],
  [{ code: 'card_declined', decline_code: 'do_not_honor', network_decline_code: '05' }, ['other', true, '05']],
  [
    { code: 'card_declined', decline_code: 'do_not_honor', network_advice_code: '03' },
    ['never', false, 'do_not_honor'],
  ],
  [
    { code: 'card_declined', decline_code: 'generic_decline', advice_code: 'do_not_try_again' },
    ['never', false, 'generic_decline'],
  ],
  [
    { code: 'card_declined', advice_code: 'do_not_try_again', network_advice_code: '24' },
    ['never', false, 'card_declined'],
  ],
  [{ code: 'card_declined', decline_code: 'stolen_card' }, ['never', false, 'stolen_card']],
  [{ code: 'card_declined', decline_code: 'stolen_card', network_decline_code: '05' }, ['never', false, '05']],
  [{ code: 'card_declined', decline_code: 'duplicate_transaction' }, ['other', false, 'duplicate_transaction']],
  [
    { code: 'card_declined', decline_code: 'revocation_of_authorization' },
    ['never', false, 'revocation_of_authorization'],
  ],
  [{ code: 'card_declined' }, ['other', true, 'card_declined']],
  [{ code: 'card_declined', decline_code: 'of_the_future' }, ['other', false, 'of_the_future']],
  [{ code: 'card_declined', decline_code: 'of_the_future', network_decline_code: '91' }, ['technical', true, '91']],
  [{ code: 'card_declined', decline_code: 'of_the_future', network_decline_code: '51' }, ['funds', false, '51']],
  [{ code: 'card_declined', decline_code: 'of_the_future', network_decline_code: 'Z9' }, ['other', false, 'Z9']],
  [{ code: 'authentication_required' }, ['authenticate', false, 'authentication_required']],
  [{ code: 'expired_card' }, ['new_card', false, 'expired_card']],
  [{ code: 'processing_error' }, ['technical', true, 'processing_error']],
])('Stripe: %j', (error, meaning) => {
  const { decline, isSoft } = declinedBy(error);
  expect([decline?.class, isSoft, decline?.code]).toEqual(meaning);
});

test.each<[code: string, data: Record<string, string>, Meaning]>([
  ['12', { refusalReasonRaw: '51 : Insufficient funds/over credit limit' }, ['funds', false, '51']],
  ['2', { refusalReasonRaw: '05 : Do not honor', merchantAdviceCode: '03 : Do not try again' }, ['never', false, '05']],
  ['2', { refusalReasonRaw: 'DECLINED' }, ['other', true, '2']],
  ['9', {}, ['technical', true, '9']],
  ['26', {}, ['never', false, '26']],
  ['26', { refusalReasonRaw: '05 : Do not honor' }, ['never', false, '05']],
  ['2', { refusalReasonRaw: '41 : Lost card', merchantAdviceCode: '01 : New account' }, ['never', false, '41']],
  ['38', {}, ['authenticate', false, '38']],
  ['999', {}, ['other', false, '999']],
  ['999', { refusalReasonRaw: '91 : Issuer unavailable' }, ['technical', true, '91']],
  ['999', { refusalReasonRaw: '41 : Lost card' }, ['never', false, '41']],
])('Adyen: %s with %j', (code, data, meaning) => {
  const { decline, isSoft } = refusalOf(code, code === '999' ? 'Of the future' : 'Refused', data);
  expect([decline?.class, isSoft, decline?.code]).toEqual(meaning);
});

test.each<[answer: Record<string, unknown>, Meaning]>([
  [{}, ['other', false, undefined]],
  [{ soft: true }, ['other', true, undefined]],
  [{ code: '05' }, ['other', true, '05']],
  [{ code: '05', soft: false }, ['other', false, '05']],
  [{ code: '94' }, ['other', false, '94']],
  [{ code: '43', soft: true }, ['never', false, '43']],
  [{ code: '51', advice: '21' }, ['never', false, '51']],
  [{ code: '41', advice: '01', soft: true }, ['never', false, '41']],
  [{ code: '43', advice: 'authenticate' }, ['never', false, '43']],
  [{ code: '41', advice: '25' }, ['never', false, '41']],
  [{ code: '<script>', advice: 3 }, ['other', false, undefined]],
])('the provider API: %j', (answer, meaning) => {
  const outcome = interpretNotification({ type: 'payment', status: 'declined', ...answer });
  expect(outcome).toMatchObject({ kind: 'declined' });
  const { decline, isSoft = false } = outcome as ReturnType<typeof declinedBy>;
  expect([decline?.class, isSoft, decline?.code]).toEqual(meaning);
});
