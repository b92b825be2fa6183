/** Admin calls on chargebacks: the list, the note and the state of one, and its evidence files. */
import type { FastifyInstance } from 'fastify';
import {
  addEvidence,
  changeChargeback,
  deleteEvidence,
  listChargebacks,
  listEvidence,
  readEvidence,
} from '../../core/chargebacks/chargebacks.ts';
import type { Evidence, Gateway, ListedChargeback } from '../../core/context.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { attachmentHeaders } from '../../lib/files/file-type.ts';
import { amountText } from '../../lib/money/money.ts';
import { wireDate } from '../../lib/time/clock.ts';
import { CHARGEBACK_STAGES, CHARGEBACK_STATES, EVIDENCE_LIMITS } from '../../rules/chargebacks.ts';
import { exponentOf } from '../../rules/currencies.ts';
import { invalidField } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { LIMITS } from '../../rules/limits.ts';
import { needs } from '../bearer.ts';
import {
  anyText,
  dateTime,
  epochMs,
  objectBody,
  oneOf,
  page,
  pageSize,
  readQuery,
  refuseUnknown,
  uuidText,
} from './input.ts';

interface ChargebackParams {
  Params: { paymentId: string };
}
interface EvidenceParams {
  Params: { paymentId: string; evidenceId: string };
}

const stateOf = oneOf(CHARGEBACK_STATES);

export function chargebackRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get('/chargebacks', needs('chargebacks.view', 'accounts'), async (request) => {
    const { limit, cursor, ...filter } = readQuery(request.query, {
      mid: uuidText,
      state: stateOf,
      stage: oneOf(CHARGEBACK_STAGES),
      from: dateTime,
      to: dateTime,
      limit: pageSize,
      cursor: readCursor,
    });
    const size = limit ?? LIMITS.adminPageSize;
    const { mids } = request.principal;
    const rows = await listChargebacks(gateway, { ...filter, mids }, size + 1, cursor);
    return page(rows, size, ({ receivedAt, paymentId }) => `${receivedAt}.${paymentId}`, chargebackView);
  });

  app.patch<ChargebackParams>('/chargebacks/:paymentId', needs('chargebacks.change', 'accounts'), async (request) => {
    const { state, note, ...rest } = objectBody(request.body);
    refuseUnknown(rest, ['state', 'note']);
    if (state !== undefined && !stateOf(state)) {
      throw invalidField('state', `This value should be one of: ${CHARGEBACK_STATES.join(', ')}.`);
    }
    if (note !== undefined && typeof note !== 'string') throw invalidField('note', SENTENCES.notText);
    const { principal, caller, params } = request;
    return chargebackView(
      await changeChargeback(gateway, principal, caller, params.paymentId, { state: stateOf(state), note }),
    );
  });

  app.get<ChargebackParams>(
    '/chargebacks/:paymentId/evidence',
    needs('chargebacks.view', 'accounts'),
    async (request) => ({
      items: (await listEvidence(gateway, request.principal, request.params.paymentId)).map(evidenceView),
      next_cursor: null,
    }),
  );

  app.get<EvidenceParams>(
    '/chargebacks/:paymentId/evidence/:evidenceId',
    needs('chargebacks.view', 'accounts'),
    async ({ principal, params }, reply) => {
      const { evidence, bytes } = await readEvidence(gateway, principal, params.paymentId, params.evidenceId);
      return reply.headers(attachmentHeaders(evidence.name, evidence.mediaType)).send(bytes);
    },
  );

  app.delete<EvidenceParams>(
    '/chargebacks/:paymentId/evidence/:evidenceId',
    needs('chargebacks.change', 'accounts'),
    async ({ principal, caller, params: { paymentId, evidenceId } }) => {
      await deleteEvidence(gateway, principal, caller, paymentId, evidenceId);
      return { evidence_id: evidenceId.toLowerCase(), deleted: true };
    },
  );

  // The body of this call is the file itself, under any content type.
  app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    uploads.post<ChargebackParams>(
      '/chargebacks/:paymentId/evidence',
      { ...needs('chargebacks.change', 'accounts'), bodyLimit: EVIDENCE_LIMITS.bytes },
      async ({ principal, caller, params, query, body }, reply) => {
        const { name } = readQuery(query, { name: anyText });
        const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
        const file = { name: name ?? '', bytes };
        reply.code(201);
        return evidenceView(await addEvidence(gateway, principal, caller, params.paymentId, file));
      },
    );
  });
}

function readCursor(text: string) {
  const [time = '', paymentId = ''] = text.split('.');
  const receivedAt = epochMs(time);
  return receivedAt !== undefined && isUuid(paymentId) ? { receivedAt, paymentId } : undefined;
}

const chargebackView = (chargeback: ListedChargeback) => ({
  payment_id: chargeback.paymentId,
  mid: chargeback.mid,
  order_id: chargeback.orderId,
  stage: chargeback.stage,
  amount: amountText(chargeback.amount, exponentOf(chargeback.currency)),
  currency: chargeback.currency,
  received_at: wireDate(chargeback.receivedAt),
  reason: chargeback.reason,
  respond_by: chargeback.respondBy === null ? null : wireDate(chargeback.respondBy),
  state: chargeback.state,
  note: chargeback.note,
  evidence_files: chargeback.files,
});

const evidenceView = (evidence: Evidence) => ({
  evidence_id: evidence.evidenceId,
  name: evidence.name,
  media_type: evidence.mediaType,
  size: evidence.sizeBytes,
  added_by: evidence.addedBy,
  created_at: wireDate(evidence.createdAt),
});
