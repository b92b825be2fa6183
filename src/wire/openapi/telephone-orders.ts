/** The call for telephone orders in the OpenAPI document. */
import { accountRefusals, call } from './operator-call.ts';
import { answers, described, type Json, jsonBody, object, text, uuid } from './schema.ts';

export const TELEPHONE_ORDER_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/telephone-orders': {
    post: call('payments', 'createTelephoneOrder', 'Opens a payment page on which the card of a caller is entered.', {
      requestBody: jsonBody(object({ mid: uuid, amount: text, currency: text, description: text }, { order_id: text })),
      responses: {
        ...answers(
          'The address of the page.',
          object({ url: described(text, 'The page for the card.'), payment_id: uuid, order_id: text }),
          '201',
        ),
        ...accountRefusals,
      },
    }),
  },
};
