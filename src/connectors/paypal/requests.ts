/** Composes the requests to PayPal's Orders API. */

import { cut } from '../../lib/text/cut.ts';
import type { Submission } from '../connector.ts';
import { cleanPayer, statementText } from '../payer.ts';
import type { Money, OrderRequest } from './types.ts';

/** The name of the wallet in `settings.methods`. */
export const WALLET = 'paypal';

/** Tells a payer who pressed "cancel" from one who approved. */
export const CANCELLED = 'paypal_cancelled';

const TEXT_LENGTH = 127;
const STATEMENT_LENGTH = 22;

function cancelUrl(returnUrl: string): string {
  const url = new URL(returnUrl);
  url.searchParams.set(CANCELLED, '1');
  return url.href;
}

/** What the payer sees at PayPal; a repetition has no payer. */
const payerSource = (submission: Submission): Pick<OrderRequest, 'payment_source'> => {
  const { merchantName, isFirstOfSeries } = submission;
  const { email } = cleanPayer(submission);
  const returnUrl = submission.returnUrl();
  return {
    payment_source: {
      paypal: {
        ...(email && { email_address: email }),
        ...(isFirstOfSeries && {
          attributes: {
            vault: { store_in_vault: 'ON_SUCCESS', usage_type: 'MERCHANT', permit_multiple_payment_tokens: true },
          },
        }),
        experience_context: {
          ...(merchantName && { brand_name: cut(merchantName, TEXT_LENGTH) }),
          shipping_preference: 'NO_SHIPPING',
          user_action: 'PAY_NOW',
          // Without it a payer may pay by a bank debit that takes days, and may fail.
          payment_method_preference: 'IMMEDIATE_PAYMENT_REQUIRED',
          return_url: returnUrl,
          cancel_url: cancelUrl(returnUrl),
        },
      },
    },
  };
};

/**
 * An order moves no money until it is captured. PayPal refuses to capture two orders with the same `invoice_id`; its reports,
 * webhooks and disputes name both ids.
 */
export function orderRequest(submission: Submission, amount: Money): OrderRequest {
  const { reference, authoriseOnly, description, recurringOf } = submission;
  const statement = statementText(submission, /[^\w.* -]|_/g, STATEMENT_LENGTH);
  return {
    intent: authoriseOnly ? 'AUTHORIZE' : 'CAPTURE',
    purchase_units: [
      {
        custom_id: reference,
        invoice_id: reference,
        ...(description && { description: cut(description, TEXT_LENGTH) }),
        ...(statement && { soft_descriptor: statement }),
        amount,
      },
    ],
    ...(recurringOf === undefined && payerSource(submission)),
  };
}

/** Names a refund at PayPal; `parseCustomId` reads it. */
export const refundId = (reference: string, operation: string): string => `${reference}.${operation}`;

const CUSTOM_ID = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?:-\d{1,3})?)(?:\.([\da-f-]{36}))?$/i;

/** The reference of the payment, and of the operation if it names one; undefined if it is not ours. */
export function parseCustomId(value: unknown): { reference: string; operation?: string | undefined } | undefined {
  const [, reference, operation] = CUSTOM_ID.exec(typeof value === 'string' ? value : '') ?? [];
  return reference === undefined ? undefined : { reference, operation };
}
