/** Who covers whom, and routes that do not say what they need. */
import Fastify, { type RouteShorthandOptions } from 'fastify';
import { describe, expect, test } from 'vitest';
import { covers, isInScope, type Reach, requireCovered } from '../../../src/core/operators/principal.ts';
import { type PanelRoute, requireNeeds } from '../../../src/pages/panel/frame/route.ts';
import { isWithin, ROLES } from '../../../src/rules/roles.ts';
import { needs, requireBearer } from '../../../src/wire/bearer.ts';

test('which role allows nothing that another one does not allow', () => {
  const within = Object.fromEntries(ROLES.map((role) => [role, ROLES.filter((other) => isWithin(other, role))]));
  expect(within).toEqual({
    owner: ROLES,
    operator: ['operator', 'support', 'viewer', 'accountant', 'merchant_accountant', 'merchant_support'],
    accountant: ['accountant'],
    support: ['support', 'viewer', 'merchant_accountant'],
    viewer: ['viewer', 'merchant_accountant'],
    merchant: ['merchant', 'merchant_accountant', 'merchant_support', 'merchant_cashier'],
    merchant_accountant: ['merchant_accountant'],
    merchant_support: ['merchant_support'],
    merchant_cashier: ['merchant_cashier'],
  });
});

describe('a caller covers', () => {
  const owner: Reach = { role: 'owner', mids: ['a', 'b'], refundLimit: null };
  const merchant = (refundLimit: string | null): Reach => ({
    role: 'merchant',
    mids: ['a'],
    refundLimit,
  });
  test.each<[Reach, Reach, boolean]>([
    [{ role: 'owner', mids: null, refundLimit: null }, { role: 'owner', mids: null, refundLimit: null }, true],
    [{ role: 'owner', mids: null, refundLimit: null }, { role: 'merchant', mids: ['a'], refundLimit: null }, true],
    [{ role: 'support', mids: null, refundLimit: null }, { role: 'operator', mids: ['a'], refundLimit: null }, false],
    [owner, { role: 'owner', mids: ['b', 'a'], refundLimit: null }, true],
    [owner, { role: 'viewer', mids: ['a'], refundLimit: null }, true],
    [owner, { role: 'viewer', mids: ['a', 'c'], refundLimit: null }, false],
    [owner, { role: 'viewer', mids: null, refundLimit: null }, false],
    [{ role: 'merchant', mids: ['a'], refundLimit: null }, { role: 'merchant', mids: ['a'], refundLimit: null }, true],
    [{ role: 'merchant', mids: ['a'], refundLimit: null }, { role: 'viewer', mids: ['a'], refundLimit: null }, false],
    [merchant('50.00'), merchant('50'), true],
    [merchant('50.00'), merchant('50.01'), false],
    [merchant('50.00'), merchant(null), false],
    [merchant(null), merchant('50.00'), true],
  ])('%j %j: %s', (caller, other, isCovered) => {
    expect(covers(caller, other)).toBe(isCovered);
    if (!isCovered) expect(() => requireCovered(caller, other)).toThrow('Your role does not allow this.');
    else expect(() => requireCovered(caller, other)).not.toThrow();
  });
});

test.each([
  ['accounts', undefined, true],
  ['installation', 'a', false],
  ['installation without mid', 'a', true],
  ['installation without mid', '', false],
  ['installation without mid', null, false],
  ['installation without mid', undefined, false],
] as const)('a restricted caller in the scope %s with the account %j: %s', (scope, mid, isIn) => {
  expect(isInScope({ mids: ['a'] }, scope, mid)).toBe(isIn);
  expect(isInScope({ mids: null }, scope, mid)).toBe(true);
});

describe('a route that does not say what it needs does not start', () => {
  const handle = async () => ({ redirect: '/' });
  const form = { method: 'POST', path: '/admin/x', permission: 'any', scope: 'accounts', handle } as const;
  test.each([
    ['permission', { ...form, permission: undefined, confirmFor: '/admin' }],
    ['scope', { ...form, scope: undefined, confirmFor: '/admin' }],
    ['scope', { ...form, method: 'GET', scope: 'mine' }],
    ['proof', form],
    ['proof', { ...form, unconfirmed: '' }],
  ])('the panel: without a %s', (name, route) => {
    expect(() => requireNeeds(route as PanelRoute)).toThrow(`The route ${route.method} /admin/x names no ${name}.`);
  });
  test('the panel: with everything', () => {
    for (const route of [
      { ...form, confirmFor: '/admin' },
      { ...form, unconfirmed: 'It changes nothing.' },
      { ...form, method: 'GET' as const },
    ]) {
      expect(() => requireNeeds(route)).not.toThrow();
    }
  });

  test.each<[string, RouteShorthandOptions]>([
    ['permission', {}],
    ['permission', { config: { scope: 'accounts' } }],
    ['scope', { config: { permission: 'any' } }],
  ])('the APIs: without a %s', (name, options) => {
    const app = Fastify();
    requireBearer(app, 'admin', { principalOf: async () => undefined, addressOf: () => '' });
    app.get('/right', needs('any', 'accounts'), handle);
    expect(() => app.get('/wrong', options, handle)).toThrow(`The route GET /wrong names no ${name}.`);
  });
});
