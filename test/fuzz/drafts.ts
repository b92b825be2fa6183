/** Valid requests for every route of the gateway and of the provider simulator, which are altered afterwards. */
import { CHECKOUT_OPERATIONS, S2S_OPERATIONS } from '../../client/src/generated.ts';
import { sign, signedValues } from '../../client/src/sign.ts';
import { signatureOf } from '../../src/lib/crypto/signature.ts';
import { BRAND_EXPECTATIONS } from '../support/brand-expectations.ts';
import { CVV, NUMBERS } from '../support/canaries.ts';
import type { Random } from '../support/chance.ts';
import { type Draft, newDraft, type Route, type World } from './model.ts';
import { pageDraft } from './page-drafts.ts';
import { fork, pick } from './random.ts';
import { routeKey } from './routes.ts';
import { type Call, DOCUMENT, type Json, knownValue, sample, uuid } from './samples.ts';

/** Routes that are sent more often, because they do more, or less often, because each request hashes a password. */
const WEIGHTS: Readonly<Record<string, number>> = {
  'POST /post': 60,
  'POST /api/v1/session': 15,
  'GET /pay/{}': 8,
  'POST /pay/{}': 20,
  'POST /inbound/{}/{}': 4,
  'POST /admin/sign-in': 0.1,
  'POST /admin/confirm': 0.1,
  'POST /admin/me/setup': 0.1,
};

/** Each route as often as its weight, in tenths. */
export const weighted = (routes: readonly Route[]): Route[] =>
  routes.flatMap((route) => Array.from({ length: 10 * (WEIGHTS[route.key] ?? 1) }, () => route));

const CALLS: ReadonlyMap<string, { documented: string; call: Call; shared: Json[] }> = new Map(
  Object.entries(DOCUMENT.paths).flatMap(([documented, methods]) =>
    Object.entries(methods).map(([method, call]) => [
      routeKey(method, documented),
      { documented, call, shared: (methods.parameters ?? []) as unknown as Json[] },
    ]),
  ),
);

export function draftOf(random: Random, world: World): Draft {
  const route = pick(random, world.routes);
  if (route.server === 'simulator') return simulatorDraft(random, world, route);
  return CALLS.has(route.key) ? documentedDraft(random, world, route) : pageDraft(random, world, route);
}

function documentedDraft(random: Random, world: World, route: Route): Draft {
  const { documented, call, shared } = CALLS.get(route.key) as NonNullable<ReturnType<typeof CALLS.get>>;
  const parameters = [...shared, ...(call.parameters ?? [])];
  const textFor = ({ name, schema }: Json): string =>
    String(sample(fork(random), world, (schema ?? {}) as Json, String(name)) ?? '');
  const path = documented.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(textFor(parameters.find((parameter) => parameter.name === name) ?? { name })),
  );
  const isOptional = (parameter: Json): boolean => parameter.in === 'query' && random() < 0.3;
  const query = parameters
    .filter(isOptional)
    .map((parameter): [string, string] => [String(parameter.name), textFor(parameter)]);
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(call.requestBody?.content ?? {});
  const draft = newDraft(route, path, {
    documented,
    query,
    body: call.requestBody ? sample(fork(random), world, schema) : undefined,
    isForm: type === 'application/x-www-form-urlencoded',
  });
  complete(random, world, draft, documented);
  return draft;
}

const signForm = (draft: Draft, password: string): void => {
  const body = draft.body as Json;
  const operation = S2S_OPERATIONS[body.action as keyof typeof S2S_OPERATIONS];
  body.hash = sign(signedValues(body, operation?.signs ?? []), password);
};

/** The form of the payment page. */
const payerForm = (random: Random): Json =>
  pick(random, [
    {
      ...{ method: 'card', card_number: pick(random, NUMBERS), card_cvv: CVV, card_holder: 'Ada Byron' },
      card_expiry: pick(random, ['01/38', '02/38', '05/38', '12/39']),
    },
    { method: 'vcard', identifier: 'success@example.com' },
    { method: 'card' },
  ]);

const FOR_PAYERS = /^\/(pay|return|3ds)\//;

/** What the schema does not say: tokens, signatures, fields of brands, forms of payers. */
function complete(random: Random, world: World, draft: Draft, documented: string): void {
  if (documented === '/post') {
    const body = draft.body as Json;
    if (body.action === 'SALE') {
      const brand = pick(random, ['vcard', 'vcard', 'pin-a', ...Object.keys(BRAND_EXPECTATIONS)]);
      draft.body = { ...body, brand, return_url: 'https://shop.example/', ...BRAND_EXPECTATIONS[brand]?.complete };
    }
    draft.sign = (altered) => signForm(altered, world.account.password);
  } else if (documented.startsWith('/api/v1/')) {
    const operation = CHECKOUT_OPERATIONS[documented.slice('/api/v1/'.length) as keyof typeof CHECKOUT_OPERATIONS];
    draft.sign = ({ body }) => {
      (body as Json).hash = sign(signedValues(body as Json, operation.signs), world.account.password);
    };
  } else if (documented.startsWith('/inbound/')) {
    const id = uuid(random);
    draft.sign = (altered) => {
      const secrets = [world.notificationSecret];
      altered.headers.push(...Object.entries(signatureOf(id, Date.now(), JSON.stringify(altered.body) ?? '', secrets)));
    };
  } else if (FOR_PAYERS.test(documented)) {
    if (draft.method === 'POST') Object.assign(draft, { body: payerForm(random), isForm: true });
  } else {
    draft.headers.push(['authorization', `Bearer ${pick(random, world.tokens)}`]);
  }
}

/** A request to the provider simulator, by the gateway's key or without one. */
function simulatorDraft(random: Random, world: World, route: Route): Draft {
  const parameter = (own: Random, name: string): string => knownValue(own, world, name) ?? uuid(own);
  const path = route.path.replace(/:(\w+)/g, (_, name) => parameter(fork(random), name));
  const isPage = !/^\/(v1|control|3ds)\//.test(route.path);
  const headers: [string, string][] = random() < 0.85 ? [['authorization', `Bearer ${world.simulator.key}`]] : [];
  const payment = { mid: world.account.mid, brand: 'bank-a', amount: '1000', currency: 'USD', exponent: 2 };
  const body = pick(random, [
    {
      reference: uuid(random),
      ...payment,
      card: { number: pick(random, NUMBERS), cvv: CVV, month: '01', year: '2038' },
    },
    { provider_status: 'executed', bank_callback: 'ACSC', chargeback: true },
    { mode: 'duplicate_news', count: 1, mid: world.other.mid, amount: '100', operation: uuid(random) },
    { decision: 'approve', code: '1234', creq: 'e30' },
  ]);
  return newDraft(route, path, { headers, body: route.method === 'GET' ? undefined : body, isForm: isPage });
}
