/** Operators of the panel with sessions, for tests of its pages. */

import { auditEntry, commandCaller } from '../../src/core/operators/principal.ts';
import { startSession } from '../../src/core/operators/sessions.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import type { Role } from '../../src/rules/roles.ts';
import type { TestGateway } from './gateway.ts';

export interface PanelAnswer {
  status: number;
  text: string;
  location: string | null;
  headers: Headers;
}

export interface TestOperator {
  operatorId: string;
  name: string;
  cookie: string;
  get(path: string): Promise<PanelAnswer>;
  /** Submits a form with the token that a page of this session has, or with another one. */
  submit(path: string, fields?: Record<string, string>, formToken?: string): Promise<PanelAnswer>;
  /** Submits a form with a file. */
  upload(path: string, file: File, formToken?: string): Promise<PanelAnswer>;
}

export const COOKIE = '__Host-turnpike_session';

/** The cookie of a session for the context of a browser. */
export const sessionCookie = (value: string) => ({
  ...{ name: COOKIE, value, domain: '127.0.0.1', path: '/', secure: true, httpOnly: true },
  sameSite: 'Lax' as const,
});

const FORM_TOKEN = /name="form_token" value="([^"]+)"/;

async function send(url: string, init: RequestInit): Promise<PanelAnswer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  return {
    status: response.status,
    text: await response.text(),
    location: response.headers.get('location'),
    headers: response.headers,
  };
}

/** An active operator who is signed in. */
export async function signedIn(
  { gateway, url }: TestGateway,
  role: Role,
  mids: string[] | null = null,
  refundLimit: string | null = null,
): Promise<TestOperator> {
  const operatorId = newId();
  const name = `the ${role}`;
  const audit = auditEntry(gateway, commandCaller('test'), 'operators.invite', { subject: operatorId });
  const common = {
    email: `${operatorId}@example.com`,
    state: 'active',
    createdAt: Date.now(),
    lastSignedInAt: null,
  } as const;
  await gateway.operators.insert({ operatorId, name, role, mids, refundLimit, ...common }, audit);
  const cookie = await startSession(gateway, { operatorId }, '127.0.0.1', 'a test');
  const headers = { cookie: `${COOKIE}=${cookie}` };
  const get = (path: string) => send(url + path, { headers });
  const ownToken = async () => FORM_TOKEN.exec((await get('/admin/payments')).text)?.[1] ?? '';
  return {
    operatorId,
    name,
    cookie,
    get,
    submit: async (path, fields = {}, formToken) =>
      send(url + path, {
        method: 'POST',
        headers,
        body: new URLSearchParams({ ...fields, form_token: formToken ?? (await ownToken()) }),
      }),
    async upload(path, file, formToken) {
      const body = new FormData();
      body.append('form_token', formToken ?? (await ownToken()));
      body.append('file', file);
      return send(url + path, { method: 'POST', headers, body });
    },
  };
}
