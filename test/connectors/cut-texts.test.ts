/** The texts that connectors shorten for their providers: none of them ends in half of a character. */
import { expect, test } from 'vitest';
import { paymentRequest as checkoutRequest } from '../../src/connectors/checkout-com/requests.ts';
import { leftOpen } from '../../src/connectors/events.ts';
import { parametersOf } from '../../src/connectors/mollie/requests.ts';
import { cleanPayer } from '../../src/connectors/payer.ts';
import { orderRequest } from '../../src/connectors/paypal/requests.ts';
import { descriptionOf } from '../../src/connectors/stripe/intents.ts';
import { interpretNotification } from '../../src/connectors/upstream.ts';
import { testCard, testSubmission } from '../support/submissions.ts';

// Of two units each: with one letter before them, every even length ends between the two.
const EMOJI = '🍵'.repeat(1000);
const TEXTS = [EMOJI, `a${EMOJI}`];

const long = (text: string) =>
  testSubmission({
    description: text,
    merchantName: text,
    descriptor: text,
    card: testCard('4242424242424242'),
    payer: { first_name: text, address: text, city: text, state: text, zip: text, country: 'DE' },
  });

test.each([
  ['Stripe', (text: string) => descriptionOf(long(text))],
  ['Mollie', (text: string) => parametersOf(long(text), undefined, true)],
  ['PayPal', (text: string) => orderRequest(long(text), { currency_code: 'EUR', value: '10.00' })],
  ['Checkout.com', (text: string) => checkoutRequest(long(text), 'pc_1', text)],
  ['any provider about the payer', (text: string) => cleanPayer(long(text))],
  ['a status', (text: string) => leftOpen(text)],
  ['a reason', (text: string) => interpretNotification({ type: 'payment', status: 'declined', reason: text })],
])('a text that is cut for %s keeps whole characters', (_, compose) => {
  for (const text of TEXTS) {
    const sent = JSON.stringify(compose(text));
    expect(sent).toContain('🍵');
    // A half of a character is written as an escape.
    expect(sent).not.toMatch(/\\ud/i);
  }
});
