/** The sandbox API: scenarios, faults and the ledger of the provider simulator, and the callback inbox. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { listFaults, readLedger, runScenario, setFault } from '../../core/sandbox/scenarios.ts';
import { isUuid } from '../../lib/crypto/id.ts';
import { isUtcMoment } from '../../lib/text/identifiers.ts';
import { isObject, isText } from '../../lib/text/json.ts';
import { BRAND_LABELS } from '../../rules/brands.ts';
import { CAUSE_LENGTH } from '../../rules/chargebacks.ts';
import { invalidField } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { DECLINE_ADVICE, DECLINE_CODE, FAULT_MODES, PROVIDER_STATUSES } from '../../rules/sandbox-scenarios.ts';
import { type Access, needs, readOptionalJson, requireBearer, requireSeen } from '../bearer.ts';
import { type BodyChecks, isCount, readBody } from './body.ts';
import { callbackInboxAdminRoutes } from './callback-inbox.ts';

const isOneOf = (choices: readonly string[], value: unknown): boolean => choices.includes(value as string);

const SCENARIOS: BodyChecks = {
  provider_status: (value) => isOneOf(PROVIDER_STATUSES, value),
  bank_callback: (value) => typeof value === 'string' && /^[A-Z]{4}$/.test(value),
  chargeback: isChargeback,
  chargeback_reversed: (value) => value === true,
  second_chargeback: isChargeback,
};

/** The members of a chargeback, each of them optional; the amount is checked with the currency of the payment. */
const CHARGEBACK: BodyChecks = {
  amount: (value) => isText(value, 20),
  respond_by: (value) => value === null || (typeof value === 'string' && isUtcMoment(value)),
  reason: (value) => isText(value, CAUSE_LENGTH),
};

function isChargeback(value: unknown): boolean {
  if (!isObject(value)) return value === true;
  const members = Object.entries(value);
  return members.length > 0 && members.every(([name, member]) => CHARGEBACK[name]?.(member) ?? false);
}

const FAULT_BODY: BodyChecks = {
  mid: (value) => typeof value === 'string' && isUuid(value),
  brand: (value) => isOneOf(BRAND_LABELS, value),
  mode: (value) => isOneOf(FAULT_MODES, value),
  code: (value) => typeof value === 'string' && DECLINE_CODE.test(value),
  advice: (value) => typeof value === 'string' && DECLINE_ADVICE.test(value),
  count: isCount,
};

export function sandboxRoutes(app: FastifyInstance, gateway: Gateway, access: Access): void {
  requireBearer(app, 'sandbox', access);
  readOptionalJson(app);
  callbackInboxAdminRoutes(app, gateway);

  /** A caller that is restricted to some accounts drives their payments only. */
  const requirePayment = async (request: FastifyRequest, paymentId: string): Promise<void> => {
    if (request.principal.mids === null) return;
    const payment = isUuid(paymentId) ? await gateway.payments.findAnywhere(paymentId) : undefined;
    requireSeen(request, payment?.mid, 'noSuchPayment');
  };

  app.post<{ Params: { paymentId: string } }>(
    '/payments/:paymentId',
    needs('sandbox.use', 'accounts'),
    async (request) => {
      await requirePayment(request, request.params.paymentId);
      const scenario = readBody(request.body, SCENARIOS);
      if (Object.keys(scenario).length !== 1) {
        const sentence = `The body should have one of ${Object.keys(SCENARIOS).join(', ')}.`;
        throw invalidField('body', sentence);
      }
      const payment = await runScenario(gateway, request.caller, request.params.paymentId, scenario);
      return { result: 'SUCCESS', payment };
    },
  );

  app.post('/faults', needs('sandbox.use', 'installation without mid'), async (request) => {
    const fault = readBody(request.body, FAULT_BODY);
    if (fault.mid !== undefined) requireSeen(request, fault.mid as string, 'noSuchAccount');
    if (fault.mode === undefined) throw invalidField('mode', SENTENCES.blank);
    const [extra] = fault.mode === 'decline' ? [] : ['code', 'advice'].filter((name) => fault[name] !== undefined);
    if (extra) throw invalidField(extra, 'Only the mode decline has this value.');
    await setFault(gateway, request.caller, fault as Parameters<typeof setFault>[2]);
    return { result: 'SUCCESS', faults: await listFaults(gateway, request.principal) };
  });
  app.get('/faults', needs('sandbox.use', 'accounts'), async ({ principal }) => ({
    faults: await listFaults(gateway, principal),
  }));
  app.get<{ Querystring: { after?: string } }>('/ledger', needs('sandbox.use', 'installation'), async (request) => {
    const { after = '0' } = request.query;
    if (!/^\d{1,15}$/.test(after)) {
      throw invalidField('after', 'This value should be a whole number.');
    }
    return (await readLedger(gateway, after)).body;
  });
}
