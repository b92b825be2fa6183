/** The state of an invoice around its due date. */
import { expect, test } from 'vitest';
import { invoiceState } from '../../../src/core/invoices/state.ts';

const at = (moment: string, terms: { voidedAt?: number; payments?: number } = {}) =>
  invoiceState({ voidedAt: null, payments: 0, dueOn: '2026-03-31', ...terms }, Date.parse(moment));

test('an invoice is overdue after its last day in UTC', () => {
  expect(at('2026-03-01T00:00:00Z')).toBe('open');
  expect(at('2026-03-31T00:00:00Z')).toBe('open');
  expect(at('2026-03-31T23:59:59.999Z')).toBe('open');
  expect(at('2026-04-01T00:00:00Z')).toBe('overdue');
});

test('a payment or a void counts more than the date', () => {
  for (const moment of ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z']) {
    expect(at(moment, { payments: 1 })).toBe('paid');
    expect(at(moment, { voidedAt: 1, payments: 1 })).toBe('void');
  }
});
