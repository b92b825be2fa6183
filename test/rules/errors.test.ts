/** The documented errors: codes, exact messages and HTTP statuses. */
import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorName, Refusal } from '../../src/rules/errors.ts';
import { entryOf, envelope } from '../../src/wire/envelope.ts';

const KNOWN: [ErrorName, number, string, number][] = [
  ['unknownRoute', 0, 'Route or parameters is not supported', 404],
  ['wrongHash', 100000, 'Hash is not valid', 400],
  ['invalidData', 100000, 'Request data is invalid.', 400],
  ['duplicatePayment', 100000, 'order_id: Duplicate payment.', 400],
  ['refundNotAllowed', 100000, 'Refund is not allowed', 400],
  ['unknownPayment', 100000, 'Payment not found.', 400],
  ['unknownSchedule', 100000, 'Schedule not found', 400],
  ['unknownRecurringPair', 100000, 'Incorrect transaction', 400],
  ['notUuid', 100000, 'This is not a valid UUID.', 400],
  ['addressNotAllowed', 100000, 'Request from this ip is not allowed.', 400],
  ['unknownCheckoutPayment', 101000, 'Payment does not exist.', 400],
  ['unknownOrder', 101000, 'Order does not exist.', 400],
  ['unknownTransaction', 101000, 'Transaction does not exist.', 400],
  ['actionNotSupported', 204005, 'Payment action not supported', 400],
  ['unknownCardToken', 205005, 'Card token is invalid or not found.', 400],
  ['captureNotPending', 208003, 'Not acceptable to request the capture for payment not in pending status', 400],
  ['captureTooMuch', 208004, 'Not acceptable to request the capture for amount bigger than auth amount.', 400],
  ['refundNotSettled', 208005, 'Not acceptable to request the refund for payment not in settled status.', 400],
  ['refundTooMuch', 208006, 'Not acceptable to request the refund for amount bigger than payment amount.', 400],
  ['refundOnlyInPortal', 210002, 'Refund via API is not supported. Only from the connector admin portal.', 400],
  ['wrongEnvironment', 220002, 'Use merchant test key.', 400],
];

test.each(KNOWN)('%s is %i %s with status %i', (name, code, message, http) => {
  expect(ERRORS[name]).toEqual({ code, message, http });
});

test('client errors are 400, or 401, 404, 413 and 429 where HTTP has a status for them; gateway errors are 500 and 503', () => {
  const statuses = Object.entries(ERRORS).map(([name, { http }]) => [name, http]);
  expect(Object.fromEntries(statuses.filter(([, http]) => http !== 400))).toEqual({
    unknownRoute: 404,
    bodyTooLarge: 413,
    unauthorised: 401,
    forbidden: 403,
    wrongSignature: 401,
    tooManyRequests: 429,
    noSuchAccount: 404,
    noSuchPayment: 404,
    noSuchCallback: 404,
    noSuchChargeback: 404,
    noSuchEvidence: 404,
    noSuchFeeInvoice: 404,
    noSuchOperator: 404,
    noSuchInvoice: 404,
    noSuchLink: 404,
    noSuchMessage: 404,
    noSuchToken: 404,
    noSuchConnection: 404,
    noSuchSchedule: 404,
    noSuchRiskList: 404,
    noSuchRiskEntry: 404,
    noSuchRiskRule: 404,
    noSuchReview: 404,
    noSuchBackTest: 404,
    noSuchReconciliation: 404,
    noSuchAdjustment: 404,
    noSuchPricePlan: 404,
    installationReview: 403,
    ownAdjustment: 403,
    noSuchRefundRequest: 404,
    ownRefundRequest: 403,
    refundNeedsApproval: 403,
    noSuchSettlement: 404,
    noSuchBankAccount: 404,
    ownBankAccount: 403,
    noSuchPayout: 404,
    ownPayout: 403,
    noSuchTransfer: 404,
    noSuchRequest: 404,
    providerBusy: 503,
    unavailable: 503,
    internal: 500,
  });
});

describe('the envelope', () => {
  test('lists problems with their fields, and what helps to correct them', () => {
    const link = 'https://gateway.example/docs/requests/sale';
    const blank = { field: 'order_id', sentence: 'This value should not be blank.' };
    const wrong = {
      field: 'parameters[pin]',
      sentence: 'This value is not valid.',
      expected: '16 digits.',
      hint: 'Did you mean this?',
      docs: '/docs/brands/pin-a',
      signedText: 'A***',
    };
    const entries = [entryOf(blank, 'order.number', link), entryOf(wrong, 'parameters[pin]', link)];
    expect(envelope('invalidData', entries)).toEqual({
      result: 'ERROR',
      error_code: 100000,
      error_message: 'Request data is invalid.',
      errors: [
        {
          error_code: 100000,
          error_message: 'order_id: This value should not be blank.',
          param: 'order.number',
          link,
        },
        {
          error_code: 100000,
          error_message: 'parameters[pin]: This value is not valid.',
          param: 'parameters[pin]',
          expected: '16 digits.',
          hint: 'Did you mean this?',
          signed_text: 'A***',
          link,
        },
      ],
    });
  });

  test('has an empty list without problems', () => {
    expect(envelope('unknownTransaction')).toEqual({
      result: 'ERROR',
      error_code: 101000,
      error_message: 'Transaction does not exist.',
      errors: [],
    });
  });
});

test('a refusal has its name, message and problems', () => {
  const refusal = new Refusal('wrongHash', [{ field: 'hash', sentence: 'Hash is not valid.' }]);
  expect(refusal).toBeInstanceOf(Error);
  expect(refusal.error).toBe('wrongHash');
  expect(refusal.message).toBe('Hash is not valid');
  expect(refusal.problems).toEqual([{ field: 'hash', sentence: 'Hash is not valid.' }]);
  expect(new Refusal('unknownOrder').problems).toEqual([]);
});

test('a refusal is an error without a stack trace, and other errors keep theirs', () => {
  const refusal = new Refusal('unknownOrder');
  expect(refusal).toBeInstanceOf(Error);
  expect(refusal.stack).toBe(`Error: ${ERRORS.unknownOrder.message}`);
  expect(new Error('another').stack).toMatch(/\n {4}at /);
});
