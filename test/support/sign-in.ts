/** Operators for tests: a browser without JavaScript that keeps cookies, one-time codes, and invited operators. */
import { createHmac } from 'node:crypto';
import { inviteOperator } from '../../src/core/operators/invitations.ts';
import { commandCaller } from '../../src/core/operators/principal.ts';
import type { Role } from '../../src/rules/roles.ts';
import type { Fields, TestGateway } from './gateway.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function fromBase32(text: string): Buffer {
  const bits = Array.from(text, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of an authenticator app (RFC 6238), implemented independently of the gateway. */
export function totpCode(seed: string, at = Date.now()): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac('sha1', fromBase32(seed.replaceAll(' ', '')))
    .update(counter)
    .digest();
  const offset = (mac.at(-1) as number) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** The code of the next step, which is accepted, too; for a second sign-in within the same step. */
export const nextTotpCode = (seed: string): string => totpCode(seed, Date.now() + 30_000);

export interface PageAnswer {
  status: number;
  text: string;
  headers: Headers;
  /** Where the answer redirects to. */
  location: string | null;
}

/** The value of a hidden field of a page. */
export const hiddenValue = (text: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

/** A visitor without JavaScript: keeps the cookies of the session and of the browser, and follows no redirects. */
export class Visitor {
  cookie = '';
  /** The cookie by which the gateway knows the browser; it stays after the session has ended. */
  browser = '';
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  get(path: string, headers: Fields = {}): Promise<PageAnswer> {
    return this.#send(path, { headers });
  }

  post(path: string, fields: Fields, headers: Fields = {}): Promise<PageAnswer> {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  async #send(path: string, init: RequestInit & { headers: Fields }): Promise<PageAnswer> {
    const sent = [this.cookie, this.browser].filter((cookie) => cookie !== '').join('; ');
    const headers = { ...init.headers, ...(sent !== '' && { cookie: sent }) };
    const response = await fetch(this.#url + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      if (pair.startsWith('__Host-turnpike_browser=')) this.browser = pair;
      else this.cookie = pair.endsWith('=') ? '' : pair;
    }
    const location = response.headers.get('location');
    return { status: response.status, text: await response.text(), headers: response.headers, location };
  }
}

export const PASSWORD = 'four unusual words together';

let operators = 0;

/** The path of a new invitation, and the address that it is for. */
export async function invited(
  { gateway }: TestGateway,
  role: Role = 'owner',
  mids: string[] | null = null,
): Promise<{ path: string; email: string; operatorId: string }> {
  const email = `operator${++operators}@example.com`;
  const outcome = await inviteOperator(gateway, commandCaller('test'), { email, role, mids, refundLimit: null });
  if (outcome === 'emailInUse') throw new Error(outcome);
  const path = `/admin/invitation/${outcome.secret.reveal()}`;
  return { path, email, operatorId: outcome.operator.operatorId };
}

export interface SignedUp {
  visitor: Visitor;
  email: string;
  operatorId: string;
  seed: string;
  /** The code that was used for the setup. */
  usedCode: string;
  recoveryCodes: string[];
}

/** An operator with a password and an authenticator app, who is signed in. */
export async function signedUp(shop: TestGateway, role?: Role, mids?: string[]): Promise<SignedUp> {
  const { path, email, operatorId } = await invited(shop, role, mids ?? null);
  const visitor = new Visitor(shop.url);
  const setup = await visitor.post(path, { name: 'Ada Byron', password: PASSWORD });
  const seed = /<code class="mono">([A-Z2-7 ]+)<\/code>/.exec(setup.text)?.[1] ?? '';
  const usedCode = totpCode(seed);
  const done = await visitor.post(`${path}/code`, { setup: hiddenValue(setup.text, 'setup'), code: usedCode });
  const codes = /<pre id="recovery-codes">([^<]+)<\/pre>/.exec(done.text)?.[1] ?? '';
  if (done.status !== 200 || codes === '') throw new Error(`${done.status} ${done.text}`);
  return { visitor, email, operatorId, seed, usedCode, recoveryCodes: codes.split('\n') };
}
