/** Requests for pages: of the panel by each role, of payers and of the docs, with forms as pages have shown them. */
import type { Random } from '../support/chance.ts';
import { COOKIE } from '../support/operators.ts';
import { type Draft, type KnownForm, newDraft, type PanelSession, type Route, type World } from './model.ts';
import { below, fork, pick } from './random.ts';
import { type Json, knownValue, named, uuid } from './samples.ts';

const STATEMENT = 'type,reference,amount,currency,date\npayment,order-1,10.00,USD,2030-01-01\n';
const FILES: readonly [string, string][] = [
  ['statement.csv', STATEMENT],
  ['statement.csv', STATEMENT.repeat(200)],
  ['statement.csv', ''],
  ['evidence.pdf', '%PDF-1.4\n%%EOF\n'],
  ['../../evil.png', '\u0089PNG\r\n\u001a\n'],
  ['a'.repeat(400), '\0'.repeat(1000)],
];

/** The one who sends the form: an owner most often, because it may do most. */
function sender(random: Random, { sessions }: World): PanelSession | undefined {
  const of = pick(random, ['owner', 'owner', 'owner', 'operator', 'support', 'viewer', 'merchant', ''] as const);
  return of === '' ? undefined : sessions.get(of);
}

const isPanel = (path: string): boolean => /^\/admin(\/|\.|$)/.test(path);

export function pageDraft(random: Random, world: World, route: Route): Draft {
  const parameter = (own: Random, name: string): string => String(named(own, world, name) ?? uuid(own));
  const path = route.path
    .replace(/:(\w+)/g, (_, name) => encodeURIComponent(parameter(fork(random), name)))
    .replace('*', () => knownValue(random, world, route.path) ?? 'README');
  const draft = newDraft(route, path, { isForm: true });
  const session = isPanel(route.path) ? sender(random, world) : undefined;
  if (session) draft.headers.push(['cookie', `${COOKIE}=${session.cookie}`]);
  const forms = world.forms.get(route.key) ?? [];
  const form = forms[below(random, Math.max(1, forms.length))];
  const fields = filled(fork(random), world, form);
  if (route.method === 'GET') {
    if (random() < 0.5) draft.query = Object.entries(fields).map(([name, value]) => [name, String(value)]);
    return draft;
  }
  const stolen = pick(random, [...world.sessions.values()])?.formToken;
  const token = random() < 0.85 ? session?.formToken : pick(random, [stolen, undefined, '']);
  draft.body = { ...fields, ...(token !== undefined && { form_token: token }) };
  if (form?.file !== undefined) {
    const [name, content] = pick(random, FILES);
    draft.file = { field: form.file, name, content };
  }
  if (random() < 0.3) draft.headers.push(['sec-fetch-site', 'same-origin']);
  return draft;
}

function filled(random: Random, world: World, form: KnownForm | undefined): Json {
  return Object.fromEntries(
    Object.entries(form?.fields ?? {}).flatMap(([name, choices]): [string, unknown][] => {
      if (random() < 0.1) return [];
      const value = named(random, world, name);
      const shown = choices[below(random, Math.max(1, choices.length))];
      return [[name, (random() < 0.5 ? (value ?? shown) : (shown ?? value)) ?? 'Text']];
    }),
  );
}
