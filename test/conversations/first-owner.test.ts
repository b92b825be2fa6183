/** The way into the panel while nobody can sign in: a button in the sandbox, a command in production. */
import { expect, test } from 'vitest';
import { openShop } from '../support/gateway.ts';
import { signedIn } from '../support/operators.ts';

const sandbox = openShop();
const production = openShop({ environment: 'production' });

const signInPage = async (url: string, headers: Record<string, string> = {}) =>
  (await fetch(`${url}/admin/sign-in`, { headers })).text();
const press = async (url: string, headers: Record<string, string> = {}) => {
  const init = { method: 'POST', headers: { origin: url, ...headers }, redirect: 'manual' } as const;
  const { status, headers: answer } = await fetch(`${url}/admin/first-owner`, init);
  return [status, answer.get('location')];
};
const COMMAND = 'turnpike operator invite you@example.com owner';
const FORWARDED = { 'x-forwarded-for': '192.0.2.7' };

test('the sandbox leads to a one-time link that creates the first owner', async () => {
  const text = await signInPage(sandbox.url);
  expect(text).toContain('action="/admin/first-owner"');
  expect(text).not.toContain('type="password"');
  const [status, link] = await press(sandbox.url);
  expect([status, link]).toEqual([303, expect.stringMatching(/^\/admin\/invitation\/[0-9a-f]{64}$/)]);
  const invitation = await fetch(`${sandbox.url}${link}`);
  expect(await invitation.text()).toContain('Create the first owner');
});

test('a request of another site, or through a proxy, gets no link', async () => {
  expect((await press(sandbox.url, { origin: 'https://evil.example' }))[0]).toBe(403);
  expect(await press(sandbox.url, FORWARDED)).toEqual([303, '/admin/sign-in']);
  const text = await signInPage(sandbox.url, FORWARDED);
  expect(text).toContain(COMMAND);
  expect(text).not.toContain('/admin/first-owner');
});

test('production names the command, and creates nothing', async () => {
  const text = await signInPage(production.url);
  expect(text).toContain(COMMAND);
  expect(text).not.toContain('/admin/first-owner');
  expect(await press(production.url)).toEqual([303, '/admin/sign-in']);
  expect(await production.rows('select 1 from operator_invitations')).toEqual([]);
});

test('with an operator, the page is the sign-in form, and the button does nothing', async () => {
  await signedIn(sandbox, 'viewer');
  expect(await signInPage(sandbox.url)).toContain('type="password"');
  expect(await press(sandbox.url)).toEqual([303, '/admin/sign-in']);
});
