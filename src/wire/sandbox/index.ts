/** The sandbox's own calls: what the simulated outside world shall do next. */
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../../core/context.ts';
import { listFaults, readLedger, rehearse, setFault } from '../../core/sandbox.ts';
import { isUuid } from '../../lib/id.ts';
import { isObject, isText } from '../../lib/json.ts';
import { BRANDS } from '../../rules/brands.ts';
import { type Problem, Refusal } from '../../rules/errors.ts';
import { SENTENCES } from '../../rules/fields.ts';
import { FAULT_MODES, PROVIDER_STATUSES } from '../../rules/rehearsal.ts';
import { readOptionalJson, requireBearer } from '../bearer.ts';

const isOneOf = (choices: readonly string[], value: unknown): boolean => choices.includes(value as string);

const COUNT_MOST = 10_000;

/** What each member of a body has to be. */
const WISHES: Readonly<Record<string, (value: unknown) => boolean>> = {
  provider_status: (value) => isOneOf(PROVIDER_STATUSES, value),
  bank_callback: (value) => typeof value === 'string' && /^[A-Z]{4}$/.test(value),
  chargeback: (value) => value === true,
};
const FAULT: Readonly<Record<string, (value: unknown) => boolean>> = {
  mid: (value) => typeof value === 'string' && isUuid(value),
  brand: (value) => isText(value, 64) && Object.hasOwn(BRANDS, value),
  mode: (value) => isOneOf(FAULT_MODES, value),
  count: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= COUNT_MOST,
};

/** The members of a body that are set, each as its row wants it; everything that is wrong is named. */
function readBody(body: unknown, rows: typeof WISHES): Record<string, unknown> {
  if (!isObject(body))
    throw new Refusal('invalidData', [{ field: 'body', sentence: 'The body should be a JSON object.' }]);
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(body)) {
    const accepts = Object.hasOwn(rows, name) ? rows[name] : undefined;
    if (!accepts)
      problems.push({ field: /^\w{1,64}$/.test(name) ? name : 'body', sentence: 'This value does not exist.' });
    else if (value !== null && !accepts(value)) problems.push({ field: name, sentence: SENTENCES.notAChoice });
  }
  if (problems.length > 0) throw new Refusal('invalidData', problems);
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

export function sandboxFace(app: FastifyInstance, gateway: Gateway, isToken: (digest: Buffer) => boolean): void {
  requireBearer(app, 'sandbox', isToken);
  readOptionalJson(app);

  app.post<{ Params: { paymentId: string } }>('/payments/:paymentId', async (request) => {
    const wish = readBody(request.body, WISHES);
    if (Object.keys(wish).length !== 1) {
      const sentence = `The body should have one of ${Object.keys(WISHES).join(', ')}.`;
      throw new Refusal('invalidData', [{ field: 'body', sentence }]);
    }
    const { status, body } = await rehearse(gateway, request.params.paymentId, wish);
    if (status === 404) throw new Refusal('noSuchPayment');
    if (status !== 200) {
      const sentence = isText(body.error, 255) ? body.error : 'The simulated provider refused.';
      throw new Refusal('invalidData', [{ field: Object.keys(wish)[0] as string, sentence }]);
    }
    return { result: 'SUCCESS', payment: body };
  });

  app.post('/faults', async (request) => {
    const fault = readBody(request.body, FAULT);
    if (fault.mode === undefined) throw new Refusal('invalidData', [{ field: 'mode', sentence: SENTENCES.blank }]);
    await setFault(gateway, fault);
    return { result: 'SUCCESS', ...(await listFaults(gateway)).body };
  });
  app.get('/faults', async () => (await listFaults(gateway)).body);
  app.get<{ Querystring: { after?: string } }>('/ledger', async ({ query: { after = '0' } }) => {
    if (!/^\d{1,15}$/.test(after)) {
      throw new Refusal('invalidData', [{ field: 'after', sentence: 'This value should be a whole number.' }]);
    }
    return (await readLedger(gateway, after)).body;
  });
}
