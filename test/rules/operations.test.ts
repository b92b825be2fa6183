/** The fields and the hash of each `/post` operation, compared with a second copy. */
import { expect, test } from 'vitest';
import { type ApiOperation, S2S_OPERATIONS, type S2sAction } from '../../src/rules/operations.ts';

const SIGNED: Record<S2sAction, string[]> = {
  SALE: ['identifier', 'order_id', 'order_amount', 'order_currency'],
  GET_TRANS_STATUS: ['trans_id'],
  GET_TRANS_STATUS_BY_ORDER: ['order_id'],
  CAPTURE: ['trans_id'],
  VOID: ['trans_id'],
  CREDITVOID: ['trans_id'],
  RECURRING_SALE: ['order_id'],
  CREATE_SCHEDULE: [],
  UPDATE_SCHEDULE: ['schedule_id'],
  DELETE_SCHEDULE: ['schedule_id'],
};

const REQUIRED: Record<S2sAction, string[]> = {
  SALE: ['brand', 'order_id', 'order_amount', 'order_currency', 'order_description', 'payer_ip', 'return_url', 'hash'],
  GET_TRANS_STATUS: ['trans_id', 'hash'],
  GET_TRANS_STATUS_BY_ORDER: ['order_id', 'hash'],
  CAPTURE: ['trans_id', 'hash'],
  VOID: ['trans_id', 'hash'],
  CREDITVOID: ['trans_id', 'hash'],
  RECURRING_SALE: [
    'order_id',
    'order_amount',
    'order_description',
    'recurring_first_trans_id',
    'recurring_token',
    'hash',
  ],
  CREATE_SCHEDULE: ['name', 'interval_length', 'interval_unit', 'payments_count', 'hash'],
  UPDATE_SCHEDULE: ['schedule_id', 'hash'],
  DELETE_SCHEDULE: ['schedule_id', 'hash'],
};

const OPTIONAL: Partial<Record<S2sAction, string[]>> = {
  SALE: [
    'identifier',
    'payer_first_name',
    'payer_last_name',
    'payer_address',
    'payer_country',
    'payer_state',
    'payer_city',
    'payer_zip',
    'payer_email',
    'payer_phone',
    'term_url_3ds',
    'callback_url',
    'auth',
    'recurring_init',
    'schedule_id',
  ],
  CAPTURE: ['amount', 'operation_id'],
  VOID: ['operation_id'],
  CREDITVOID: ['amount', 'operation_id'],
  RECURRING_SALE: ['order_currency', 'schedule_id', 'auth', 'term_url_3ds'],
  CREATE_SCHEDULE: ['schedule_id', 'day_of_month', 'delays'],
  UPDATE_SCHEDULE: ['name', 'interval_length', 'interval_unit', 'payments_count', 'day_of_month', 'delays'],
};

const ACTIONS = Object.keys(SIGNED) as S2sAction[];
const fieldsOf = (action: S2sAction, need: string): string[] =>
  (S2S_OPERATIONS[action] as ApiOperation).fields.filter((field) => field.need === need).map(({ name }) => name);

test('the actions are these ten', () => {
  expect(Object.keys(S2S_OPERATIONS).toSorted()).toEqual(ACTIONS.toSorted());
});

test.each(ACTIONS)('the hash of %s covers these fields in this order', (action) => {
  expect(S2S_OPERATIONS[action].signs).toEqual(SIGNED[action]);
});

test.each(ACTIONS)('%s requires these fields', (action) => {
  expect(fieldsOf(action, 'must').toSorted()).toEqual(REQUIRED[action].toSorted());
});

test.each(ACTIONS)('%s accepts these optional fields', (action) => {
  expect(fieldsOf(action, 'may').toSorted()).toEqual((OPTIONAL[action] ?? []).toSorted());
});

test.each(ACTIONS)('%s names every field once', (action) => {
  const names = S2S_OPERATIONS[action].fields.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});
