/** The erasure of personal data in the OpenAPI document. */
import { accountRefusals, call, mid, operatorRefusals, paymentRefusals } from './operator-call.ts';
import { PAYMENT } from './payments.ts';
import {
  answers,
  described,
  inPath,
  integer,
  type Json,
  jsonBody,
  listOf,
  object,
  orNull,
  text,
  uuid,
} from './schema.ts';

const erased = described(listOf(uuid), 'The payments whose data was erased by this request.');

export const ERASURE_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/payments/{payment_id}/erase': {
    parameters: [inPath('payment_id', uuid, 'The payment.')],
    post: call(
      'payments',
      'erasePayment',
      'Erases the personal data of all attempts of the order of a payment, for good. Refused for a payment that is open, ' +
        'whose payer can try again, or that has an undelivered callback.',
      { responses: { ...answers('The payment.', object({ ...PAYMENT, erased })), ...paymentRefusals } },
    ),
  },
  '/admin/api/accounts/{mid}/erase': {
    parameters: mid,
    post: call(
      'payments',
      'erasePayer',
      'Erases the personal data of the payments of an account with this e-mail address of the payer, for good.',
      {
        requestBody: jsonBody(
          object(
            { email: described(text, 'The address of the payer; letter case does not matter.') },
            { cursor: described(uuid, 'The `next_cursor` of the previous answer.') },
          ),
        ),
        responses: {
          ...answers(
            'What was erased. A request erases a portion: repeat it with `next_cursor` until that is null.',
            object({
              erased,
              refused: described(
                listOf(object({ payment_id: uuid, reason: text })),
                'The payments that keep their data, and why. Repeat the request when they are finished.',
              ),
              next_cursor: orNull(uuid),
            }),
          ),
          ...accountRefusals,
        },
      },
    ),
  },
  '/admin/api/accounts/{mid}/cards/{card_token}': {
    parameters: [...mid, inPath('card_token', text, 'The token of the saved card.')],
    delete: call(
      'payments',
      'removeCard',
      'Removes a saved card: its token no longer works, recurring sales from it are refused, and subscriptions that ' +
        'charge it end. Refused while an open payment uses the card.',
      {
        responses: {
          ...answers(
            'The card was removed.',
            object({
              card: described(text, 'The masked number.'),
              payments_changed: described(integer, 'The payments that had the token, or that could be repeated.'),
              subscriptions_ended: integer,
            }),
          ),
          ...operatorRefusals('invalidData', 'unknownCardToken', 'noSuchAccount'),
        },
      },
    ),
  },
};
