/** The calls on telephone orders in the OpenAPI document. */
import { accountRefusals, call, commonRefusals, pageParameters } from './operator-call.ts';
import { answers, date, described, inQuery, type Json, jsonBody, object, pageOf, text, uuid } from './schema.ts';

const mid = inQuery('mid', uuid, 'Orders of this account.');

export const TELEPHONE_ORDER_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/telephone-orders.csv': {
    get: call('payments', 'readTelephoneOrdersCsv', 'Returns the telephone orders that the caller has taken as CSV.', {
      parameters: [mid],
      responses: {
        '200': { description: 'The orders.', content: { 'text/csv': { schema: text } } },
        ...commonRefusals,
      },
    }),
  },
  '/admin/api/telephone-orders': {
    get: call(
      'payments',
      'listTelephoneOrders',
      'Lists the telephone orders that the caller has taken, newest first.',
      {
        parameters: [mid, ...pageParameters(uuid)],
        responses: {
          ...answers(
            'A page of orders.',
            pageOf(
              object({
                payment_id: described(uuid, 'The first payment of the order.'),
                mid: uuid,
                order_id: text,
                description: text,
                amount: text,
                currency: text,
                status: described(text, 'The status of the newest payment of the order.'),
                created_at: date,
              }),
            ),
          ),
          ...commonRefusals,
        },
      },
    ),
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
