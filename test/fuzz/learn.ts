/** Keeps what responses show for later requests: ids, links and the forms of pages. */

import { unescaped } from '../support/pages.ts';
import type { KnownForm, Route, World } from './model.ts';
import { poolOf } from './samples.ts';

const KEPT = 60;
const FORMS_KEPT = 8;

const LEARNED =
  /^(payment_id|trans_id|schedule_id|subscription_id|recurring_token|card_token|connection_id|reconciliation_id|evidence_id|id|token_id)$/;

/** Keeps the ids of a JSON response. */
export function learnJson(world: World, body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    if (typeof value === 'object') learnJson(world, value);
    if (typeof value !== 'string') continue;
    const link = name === 'redirect_url' ? /\/(?:pay|3ds|return)\/([^/?]+)/.exec(value)?.[1] : undefined;
    if (link) keep(world, 'link', link);
    else if (LEARNED.test(name)) keep(world, poolOf(name), value);
  }
}

function keep({ known, untouched }: World, name: string, value: string): void {
  if (untouched.has(value) || value === '' || value.length > 200) return;
  const pool = known.get(name) ?? [];
  known.set(name, pool);
  if (!pool.includes(value)) pool.push(value);
  if (pool.length > KEPT) pool.shift();
}

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : unescaped(value);
};

/** Finds the route of a path, and the parameters in it. */
export function matcherOf(routes: readonly Route[]): World['routeOf'] {
  const patterns = routes
    .filter(({ server }) => server === 'gateway')
    .map((route) => {
      const source = route.path.replace(/[.]/g, '\\.').replace(/:\w+/g, '([^/]+)').replace('*', '(.+)');
      return { route, pattern: new RegExp(`^${source}$`) };
    })
    // A fixed path precedes one with parameters.
    .toSorted((a, b) => a.route.path.split(':').length - b.route.path.split(':').length);
  return (method, path) => {
    for (const { route, pattern } of patterns) {
      const found = route.method === method && pattern.exec(path);
      if (found) return [route, found.slice(1)];
    }
    return undefined;
  };
}

const namesOf = ({ path }: Route): string[] =>
  path.includes('*') ? [path] : [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => poolOf(name));

/** Keeps the links of a page, and its forms. */
export function learnPage(world: World, html: string, path: string): void {
  const visit = (method: string, target: string): Route | undefined => {
    const [route, values = []] = world.routeOf(method, target.split(/[?#]/)[0] ?? '') ?? [];
    if (route)
      for (const [at, name] of namesOf(route).entries()) keep(world, name, decodeURIComponent(values[at] ?? ''));
    return route;
  };
  for (const [, href = ''] of html.matchAll(/\shref="(\/[^"]*)"/g)) visit('GET', unescaped(href));
  for (const [, head = '', body = ''] of html.matchAll(/<form(\s[^>]*)?>([\s\S]*?)<\/form>/g)) {
    const method = (attribute(head, 'method') ?? 'get').toUpperCase();
    const route = visit(method, attribute(head, 'action') ?? path);
    if (route) keepForm(world, route, formOf(body));
  }
}

function formOf(html: string): KnownForm {
  const fields: Record<string, string[]> = {};
  let file: string | undefined;
  for (const [tag, kind, , inner = ''] of html.matchAll(
    /<(input|button|textarea|select)(\s[^>]*)>(?:([\s\S]*?)<\/(?:textarea|select)>)?/g,
  )) {
    const name = attribute(tag, 'name');
    if (name === undefined || name === 'form_token') continue;
    fields[name] ??= [];
    if (attribute(tag, 'type') === 'file') file = name;
    else if (kind === 'select') {
      fields[name].push(
        ...[...inner.matchAll(/<option[^>]*\svalue="([^"]*)"/g)].map(([, value = '']) => unescaped(value)),
      );
    } else if (kind === 'textarea') fields[name].push(unescaped(inner));
    else if (attribute(tag, 'value')) fields[name].push(attribute(tag, 'value') as string);
  }
  if (file !== undefined) delete fields[file];
  return { fields, file };
}

/** Forms with the same fields count as one; the newest is kept. */
function keepForm({ forms }: World, { key }: Route, form: KnownForm): void {
  const names = (one: KnownForm): string => Object.keys(one.fields).join(' ');
  const others = (forms.get(key) ?? []).filter((one) => names(one) !== names(form));
  forms.set(key, [form, ...others].slice(0, FORMS_KEPT));
}
