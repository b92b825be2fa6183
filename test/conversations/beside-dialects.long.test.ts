/** The conversations of an account with default settings, while other accounts have every setting of the dialect on. */
import { afterAll } from 'vitest';
import { SETTING_NAMES, SETTINGS } from '../../src/rules/settings.ts';
import { neighbours } from '../support/gateway.ts';
import './sale.test.ts';
import './requests.test.ts';
import './refusals.test.ts';
import './duplicates.test.ts';
import './operations.test.ts';
import './recurring.test.ts';
import './schedules.test.ts';
import './checkout.test.ts';
import './credit.test.ts';
import './callbacks.test.ts';
import './account-formats.test.ts';
import './explain.test.ts';

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
