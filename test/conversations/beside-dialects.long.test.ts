/** The conversations of an account with default settings, while other accounts have every setting of the dialect on. */
import { afterAll, vi } from 'vitest';
import { SETTING_NAMES, SETTINGS } from '../../src/rules/settings.ts';

// A worker loads a module once, and another of its files may have the same tests: these are loaded for this file alone.
vi.resetModules();
const { neighbours } = await import('../support/gateway.ts');
await import('./sale.test.ts');
await import('./requests.test.ts');
await import('./refusals.test.ts');
await import('./duplicates.test.ts');
await import('./operations.test.ts');
await import('./recurring.test.ts');
await import('./schedules.test.ts');
await import('./checkout.test.ts');
await import('./credit.test.ts');
await import('./callbacks.test.ts');
await import('./account-formats.test.ts');
await import('./explain.test.ts');
vi.resetModules();

/** The values of a setting other than its default. */
const othersOf = (name: (typeof SETTING_NAMES)[number]): unknown[] => {
  const { input, default: usual } = SETTINGS[name];
  return (typeof input === 'object' ? input : [true]).filter((value) => value !== usual);
};
const each = SETTING_NAMES.filter((name) => name.startsWith('dialect.')).flatMap((name) =>
  othersOf(name).map((value) => ({ [name]: value })),
);
neighbours.settings = [...each, Object.assign({}, ...each)];
afterAll(() => {
  neighbours.settings = [];
});
