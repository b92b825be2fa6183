/** Admin calls on the review queue. */
import type { FastifyInstance } from 'fastify';
import type { Gateway, Review } from '../../../core/context.ts';
import { paymentView } from '../../../core/exports/payment-view.ts';
import { reviewView, shownRules } from '../../../core/risk/decisions.ts';
import { decideReview, listReviews, REVIEW_DECISIONS } from '../../../core/risk/reviews.ts';
import { isUuid } from '../../../lib/crypto/id.ts';
import { wireDate } from '../../../lib/time/clock.ts';
import { invalidField } from '../../../rules/errors.ts';
import { SENTENCES } from '../../../rules/fields.ts';
import { LIMITS } from '../../../rules/limits.ts';
import { REVIEW_STATES } from '../../../rules/risk/actions.ts';
import { needs } from '../../bearer.ts';
import { epochMs, objectBody, oneOf, page, pageSize, readQuery, refuseUnknown, uuidText } from '../input.ts';
import { CSV_ROWS_MOST, sendCsv } from './csv.ts';

const FILTERS = { mid: uuidText, state: oneOf(REVIEW_STATES) };

export function reviewRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/risk/reviews', needs('risk.view', 'accounts'), async (request) => {
    const { limit, cursor, ...filter } = readQuery(request.query, { ...FILTERS, limit: pageSize, cursor: readCursor });
    const size = limit ?? LIMITS.adminPageSize;
    const { mids } = request.principal;
    const rows = await listReviews(gateway, { ...filter, mids }, size + 1, cursor);
    return page(
      rows,
      size,
      ({ at, paymentId }) => `${at}.${paymentId}`,
      (row) => view(row, mids),
    );
  });

  app.get('/risk/reviews.csv', needs('risk.view', 'accounts'), async (request, reply) => {
    const filter = readQuery(request.query, FILTERS);
    const rows = await listReviews(gateway, { ...filter, mids: request.principal.mids }, CSV_ROWS_MOST);
    const header = ['payment_id', 'mid', 'order_id', 'amount', 'currency', 'status', 'state', 'score', 'due_at'];
    return sendCsv(
      reply,
      'reviews.csv',
      header,
      rows.map((row) => [
        row.paymentId,
        row.mid,
        row.orderId,
        row.amountText,
        row.currency,
        row.state,
        row.reviewState,
        row.score,
        reviewView(row)?.due_at ?? null,
      ]),
    );
  });

  app.post<{ Params: { paymentId: string } }>(
    '/risk/reviews/:paymentId',
    needs('risk.review', 'accounts'),
    async (request) => {
      const { decision, note = '', ...rest } = objectBody(request.body);
      refuseUnknown(rest, ['decision', 'note']);
      const wanted = REVIEW_DECISIONS.find((one) => one === decision);
      if (wanted === undefined)
        throw invalidField('decision', 'The value you selected is not a valid choice.', {
          expected: `One of ${REVIEW_DECISIONS.join(', ')}.`,
        });
      if (typeof note !== 'string') throw invalidField('note', SENTENCES.notText);
      const { principal, caller, params } = request;
      return paymentView(await decideReview(gateway, principal, caller, params.paymentId, wanted, note));
    },
  );
}

function readCursor(text: string) {
  const [time = '', paymentId = ''] = text.split('.');
  const at = epochMs(time);
  return at !== undefined && isUuid(paymentId) ? { at, paymentId } : undefined;
}

const view = (row: Review, mids: readonly string[] | null) => ({
  payment_id: row.paymentId,
  mid: row.mid,
  order_id: row.orderId,
  brand: row.brand,
  amount: row.amountText,
  currency: row.currency,
  status: row.state,
  score: row.score,
  rules: shownRules(row.rules, mids),
  failure: row.failure,
  created_at: wireDate(row.at),
  ...reviewView(row),
});
