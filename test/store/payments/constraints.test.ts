/** The constraints of the database, and that they agree with the tables in the code. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { isRetriable, legalTransitions, type PaymentEvent, STATE_NAMES } from '../../../src/rules/states.ts';
import { ENUMERATIONS, itemRows } from '../../../src/store/database/item-rows.ts';
import { migrateAt } from '../../../src/store/database/migrate.ts';
import { schemaText } from '../../../src/store/database/write-schema.ts';
import type { PaymentWithDetails } from '../../../src/store/payments/payments.ts';
import { query } from '../../support/database.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { preparedPayment } from '../../support/payments.ts';
import { openPool } from '../../support/pool.ts';

let shop: TestGateway;
let pool: pg.Pool;
beforeAll(async () => {
  shop = await startTestGateway();
  pool = openPool(shop.connection);
});
afterAll(async () => {
  await pool.end();
  await shop.close();
});

const MID = '01990000-0000-7000-8000-000000000001';

/** A settled payment that the database accepts. */
const payment = (changes: Record<string, unknown> = {}) => ({
  mid: MID,
  payment_id: randomUUID(),
  order_id: randomUUID(),
  attempt: 1,
  protocol: 's2s',
  brand: 'vcard',
  connector: 'vcard',
  state: 'SETTLED',
  history_length: 2,
  amount_text: '10.00',
  currency: 'USD',
  amount: 1000,
  authorised: 1000,
  captured: 1000,
  refunded: 0,
  reserved: 0,
  in_doubt: false,
  query_count: 0,
  is_authorisation: false,
  is_recurring_init: false,
  fingerprint: 'f',
  descriptor: 'Test Shop',
  details: {},
  created_at: '2026-01-31T12:00:00Z',
  updated_at: '2026-01-31T12:00:00Z',
  ...changes,
});

const historyRow = (changes: Record<string, unknown> = {}) => ({
  mid: MID,
  payment_id: randomUUID(),
  seq: 2,
  event: 'settled',
  from_state: 'PREPARE',
  to_state: 'SETTLED',
  actor: 'provider',
  at: '2026-01-31T12:00:00Z',
  ...changes,
});

/** Inserts a row and returns the constraint, column or type that refused it, if any. */
async function refusalOf(table: 'payments' | 'history', row: object): Promise<string | undefined> {
  try {
    await pool.query(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1)`, [row]);
    return undefined;
  } catch (error) {
    const { constraint, column, message } = error as { constraint?: string; column?: string; message: string };
    return constraint ?? column ?? message;
  }
}

test.each(Object.entries(ENUMERATIONS))('%s has the values that batches write', async (name, values) => {
  const { rows } = await pool.query(`select unnest(enum_range(null::${name}))::text as value`);
  expect(new Set(values)).toEqual(new Set(rows.map(({ value }) => value)));
  const items = itemRows<string>([['value', name as keyof typeof ENUMERATIONS, (value) => value]]);
  for (const table of [items.rows('i'), items.manyRows('i')]) {
    const { rows: written } = await pool.query(`select value::text from ${table}`, items.values(values));
    expect(written.map(({ value }) => value)).toEqual(values);
  }
});

describe('payments', () => {
  const UNPAID = { authorised: 0, captured: 0 };
  test.each([
    ['a settled one', {}],
    ['a prepared one', { state: 'PREPARE', ...UNPAID }],
    ['an authorised one', { state: 'PENDING', captured: 0 }],
    ['a declined one with its reason', { state: 'DECLINED', ...UNPAID, decline_reason: 'No money.' }],
    ['one that was captured and refunded in part', { captured: 900, refunded: 800 }],
    ['one that was refunded in full', { state: 'REFUND', refunded: 1000 }],
  ])('%s is accepted', async (_, changes) => {
    expect(await refusalOf('payments', payment(changes))).toBe(undefined);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['an unknown state', { state: 'PAID' }, 'invalid input value for enum payment_state: "PAID"'],
    ['a state in lower case', { state: 'settled' }, 'invalid input value for enum payment_state: "settled"'],
    ['no state', { state: null }, 'state'],
    ['an amount of zero', { amount: 0, authorised: 0, captured: 0, state: 'PREPARE' }, 'positive_amount_check'],
    ['a negative amount', { amount: -1000 }, 'positive_amount_check'],
    ['authorised > amount', { authorised: 1001 }, 'money_is_conserved'],
    ['captured > authorised', { authorised: 900, captured: 901 }, 'money_is_conserved'],
    ['refunded > captured', { captured: 900, refunded: 901 }, 'money_is_conserved'],
    ['a negative refund', { refunded: -1 }, 'money_is_conserved'],
    ['refunded + reserved > captured', { captured: 900, refunded: 500, reserved: 401 }, 'money_is_conserved'],
    ['a negative reservation', { reserved: -1 }, 'money_is_conserved'],
    ['SETTLED without a capture', { captured: 0 }, 'captured_fits_state'],
    ['REFUND without a capture', { state: 'REFUND', captured: 0 }, 'captured_fits_state'],
    ['CHARGEBACK without a capture', { state: 'CHARGEBACK', captured: 0 }, 'captured_fits_state'],
    ...['PREPARE', 'REDIRECT', '3DS', 'PENDING', 'VOID', 'REVERSAL', 'EXPIRED'].map(
      (state): [string, Record<string, unknown>, string] => [
        `${state} with a capture`,
        { state },
        'captured_fits_state',
      ],
    ),
    ['DECLINED with a capture', { state: 'DECLINED', decline_reason: 'x' }, 'captured_fits_state'],
    ['DECLINED without a reason', { state: 'DECLINED', ...UNPAID }, 'declined_has_a_reason'],
    ['a history of no rows', { history_length: 0 }, 'ordinal_check'],
    ['an attempt before the first', { attempt: 0 }, 'ordinal_check'],
    ['no order', { order_id: '' }, 'some_text_check'],
    ['a currency in lower case', { currency: 'usd' }, 'currency_code_check'],
    ['another protocol', { protocol: 'soap' }, 'invalid input value for enum protocol: "soap"'],
    ['details that are a list', { details: [] }, 'json_record_check'],
  ])('%s is refused', async (_, changes, constraint) => {
    expect(await refusalOf('payments', payment(changes))).toBe(constraint);
  });

  test('refuses a second payment for the same attempt of an order, but not for another attempt or account', async () => {
    const order_id = randomUUID();
    expect(await refusalOf('payments', payment({ order_id }))).toBe(undefined);
    expect(await refusalOf('payments', payment({ order_id }))).toBe('payments_mid_order_id_attempt_key');
    expect(await refusalOf('payments', payment({ order_id, attempt: 2 }))).toBe(undefined);
    expect(await refusalOf('payments', payment({ order_id, mid: randomUUID() }))).toBe(undefined);
  });

  test('refuses a second payment with the same id', async () => {
    const payment_id = randomUUID();
    expect(await refusalOf('payments', payment({ payment_id }))).toBe(undefined);
    expect(await refusalOf('payments', payment({ payment_id }))).toBe('payments_pkey');
  });
});

describe('history', () => {
  test.each([
    ['the first row', { seq: 1, event: 'opened', from_state: null, to_state: 'PREPARE' }],
    ['a legal transition', {}],
    ['a note that changes nothing', { event: 'noted declined', from_state: 'SETTLED', to_state: 'SETTLED' }],
  ])('%s is accepted', async (_, changes) => {
    expect(await refusalOf('history', historyRow(changes))).toBe(undefined);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['a transition backwards', { from_state: 'SETTLED', to_state: 'PENDING' }, 'transitions_are_legal'],
    ['a transition out of a final state', { from_state: 'DECLINED', to_state: 'SETTLED' }, 'transitions_are_legal'],
    [
      'the acceptance of a late success by the provider',
      { from_state: 'DECLINED', to_state: 'SETTLED', event: 'acceptedLate', actor: 'provider' },
      'transitions_are_legal',
    ],
    ['a transition that skips a step', { from_state: 'PREPARE', to_state: 'REFUND' }, 'transitions_are_legal'],
    ['a transition to an unknown state', { to_state: 'PAID' }, 'invalid input value for enum payment_state: "PAID"'],
    ['a first row in another state', { seq: 1, from_state: null, to_state: 'SETTLED' }, 'transitions_are_legal'],
    ['row 1 with a previous state', { seq: 1 }, 'first_row_opens'],
    ['row 2 without a previous state', { from_state: null, to_state: 'PREPARE' }, 'first_row_opens'],
    ['row 0', { seq: 0 }, 'ordinal_check'],
    ['an unknown actor', { actor: 'nobody' }, 'invalid input value for enum actor: "nobody"'],
  ])('%s is refused', async (_, changes, constraint) => {
    expect(await refusalOf('history', historyRow(changes))).toBe(constraint);
  });

  test('refuses the acceptance of a payment whose order has a later one', async () => {
    const order_id = 'tried again';
    const [payment_id, later] = [randomUUID(), randomUUID()];
    const declined = { order_id, state: 'DECLINED', authorised: 0, captured: 0, decline_reason: 'No money.' };
    await refusalOf('payments', payment({ ...declined, payment_id }));
    const row = (id: string, seq: number) =>
      historyRow({
        payment_id: id,
        seq,
        event: 'acceptedLate',
        actor: 'operator',
        from_state: 'DECLINED',
        to_state: 'SETTLED',
      });
    expect(await refusalOf('history', row(payment_id, 2))).toBe(undefined);
    await refusalOf('payments', payment({ ...declined, payment_id: later, attempt: 2 }));
    expect(await refusalOf('history', row(payment_id, 3))).toBe('newest_attempt_is_accepted');
    expect(await refusalOf('history', row(later, 2))).toBe(undefined);
  });

  test('refuses a second row with the same number', async () => {
    const payment_id = randomUUID();
    expect(await refusalOf('history', historyRow({ payment_id }))).toBe(undefined);
    expect(await refusalOf('history', historyRow({ payment_id }))).toBe('history_pkey');
  });
});

describe('the statements of the store', () => {
  const stateOf = async (transId: string) => {
    const [row] = await shop.rows(
      `select state, history_length, (select array_agg(seq::int order by seq) from history h
         where h.payment_id = p.payment_id) as seqs from payments p where payment_id = '${transId}'`,
    );
    return row;
  };
  const UNTOUCHED = { state: 'PENDING', history_length: 2, seqs: [1, 2] };

  async function authorised(): Promise<PaymentWithDetails> {
    const { body: sale } = await shop.sale({ auth: 'Y' });
    const found = await shop.gateway.payments.find({ mid: shop.merchant.mid, paymentId: sale.trans_id });
    return found as PaymentWithDetails;
  }

  const transition = (
    before: PaymentWithDetails,
    event: PaymentEvent,
    changes: Partial<PaymentWithDetails>,
  ): Promise<boolean> => {
    const after = { ...before, historyLength: before.historyLength + 1, ...changes };
    return shop.gateway.payments.transition({ before, after, event, actor: 'operator', call: undefined });
  };

  test('a transition based on an outdated history length writes nothing, so the history has no gaps', async () => {
    const payment = await authorised();
    for (const historyLength of [1, 3, 100]) {
      expect(await transition({ ...payment, historyLength }, 'voided', { state: 'VOID' })).toBe(false);
      expect(await stateOf(payment.paymentId)).toEqual(UNTOUCHED);
    }
    expect(await transition({ ...payment, state: 'REDIRECT' }, 'voided', { state: 'VOID' })).toBe(false);
    expect(await stateOf(payment.paymentId)).toEqual(UNTOUCHED);
    expect(await transition(payment, 'voided', { state: 'VOID' })).toBe(true);
    expect(await stateOf(payment.paymentId)).toEqual({ state: 'VOID', history_length: 3, seqs: [1, 2, 3] });
  });

  test('a transition that the database refuses changes neither the state nor the history', async () => {
    const payment = await authorised();
    await expect(transition(payment, 'redirected', { state: 'REDIRECT' })).rejects.toThrow('transitions_are_legal');
    await expect(transition(payment, 'captured', { state: 'SETTLED', captured: 1001n })).rejects.toThrow(
      'money_is_conserved',
    );
    expect(await stateOf(payment.paymentId)).toEqual(UNTOUCHED);
  });

  test('of two payments for the same attempt of an order one is written, with one history row', async () => {
    const payments = [1, 2].map(() => preparedPayment(shop, { orderId: 'opened-twice' }));
    expect((await Promise.all(payments.map((one) => shop.gateway.payments.open(one)))).sort()).toEqual([false, true]);
    expect(
      await shop.rows(`select count(*)::int as n from payments join history using (mid, payment_id)
        where order_id = 'opened-twice'`),
    ).toEqual([{ n: 1 }]);
  });

  test('an invalid payment in a batch of valid ones fails alone', async () => {
    const good = Array.from({ length: 5 }, () => preparedPayment(shop));
    const bad = preparedPayment(shop, { amount: 0n });
    const [first, ...rest] = await Promise.allSettled([bad, ...good].map((one) => shop.gateway.payments.open(one)));
    expect(first).toMatchObject({ status: 'rejected', reason: { constraint: 'positive_amount_check' } });
    expect(rest).toEqual(good.map(() => ({ status: 'fulfilled', value: true })));
  });
});

describe('the database and the code agree on', () => {
  test('states', async () => {
    const { rows } = await pool.query(`select unnest(enum_range(null::payment_state))::text as state`);
    expect(rows.map((row) => row.state).sort()).toEqual([...STATE_NAMES].sort());
  });

  test('transitions: of all pairs of states the history accepts exactly those of the table', async () => {
    const allowed: string[] = [];
    for (const from_state of STATE_NAMES) {
      for (const to_state of STATE_NAMES) {
        // Only an operator settles a payment that has failed.
        const late = isRetriable(from_state) ? { event: 'acceptedLate', actor: 'operator' } : {};
        const accepted = from_state === 'CHARGEBACK' ? { event: 'chargebackReversed' } : late;
        const refusal = await refusalOf('history', historyRow({ from_state, to_state, ...accepted }));
        if (refusal === undefined) allowed.push(`${from_state}>${to_state}`);
        else expect(refusal).toBe('transitions_are_legal');
      }
    }
    // A row without a change of state is always allowed: it records a note.
    const stays = STATE_NAMES.map((state) => `${state}>${state}`);
    expect(allowed.sort()).toEqual([...new Set([...legalTransitions(), ...stays])].sort());
  });

  test('tables', async () => {
    const file = await readFile(new URL('../../../src/store/schema.ts', import.meta.url), 'utf8');
    const words = (text: string) => text.replaceAll(/\s+/g, ' ');
    expect(words(file), 'src/store/schema.ts is not up to date: run `npm run schema`.').toBe(
      words(await schemaText(pool)),
    );
  });

  describe('the distribution of accounts over several databases:', () => {
    // The account of a notification is known only after it is matched to a payment.
    const others = [
      ...['accounts', 'clock_offsets', 'installation', 'migrations', 'provider_notifications', 'restores'],
      // What operators do concerns the installation.
      ...['api_tokens', 'audit_head', 'audit_log', 'operators', 'operator_invitations'],
      ...['operator_passkeys', 'operator_passwords', 'operator_recovery_codes', 'operator_sessions'],
      ...['operator_sign_in_failures', 'operator_spent_values', 'operator_notices', 'saved_filters'],
      // A statement concerns all accounts of a provider.
      ...['reconciliations', 'reconciliation_parts', 'reconciliation_rows'],
      // Rules, lists and data of the installation, and those that an account has besides them.
      ...['risk_version', 'risk_lists', 'risk_list_entries', 'risk_rules', 'risk_rule_versions'],
      ...['risk_bins', 'risk_ip_countries', 'risk_back_tests', 'risk_fraud_rates'],
      // Credentials that several accounts may share.
      'connections',
      // Prices, which several accounts may share, and what connections cost.
      ...['price_plans', 'price_plan_versions', 'connection_price_plans'],
      ...['payout_accounts', 'payouts', 'provider_payments', 'provider_terms', 'holiday_lists'],
      // The operator is the issuer, with one range of numbers for all accounts.
      ...['fee_invoices', 'fee_invoice_issuer', 'fee_invoice_numbers'],
      // How far what is derived is, where the search finds terms, and the sums of all accounts together.
      ...['projections', 'payment_search_segments', 'payment_search_bits'],
      ...['rollup_call_totals', 'rollup_decline_totals', 'rollup_delivery_totals', 'rollup_totals'],
      // The books of the whole installation; entries about providers belong to no account.
      ...['ledger_entries', 'ledger_entries_before', 'ledger_sums', 'ledger_totals'],
    ];

    /** Each sale writes these: all accounts append to the same end of an index that begins with the payment's time. */
    const byTime = ['callbacks', 'history', 'payment_search', 'payments'];

    test('the primary keys of tables with merchants’ data begin with mid', async () => {
      const { rows } = await pool.query(
        `select c.relname as table, (
           select a.attname from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
           where i.indrelid = c.oid and i.indisprimary
         ) as first
         from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace order by 1`,
      );
      const data = rows.filter((row) => !others.includes(row.table));
      expect(data.map((row) => row.table)).toEqual(expect.arrayContaining(['history', 'payments']));
      expect(data.filter((row) => row.first !== 'mid')).toEqual(
        byTime.map((table) => ({ table, first: 'payment_id' })),
      );
    });

    test('every unique index of these tables contains mid, so that each database can check it alone', async () => {
      const { rows } = await pool.query(
        `select i.indexrelid::regclass::text as index, i.indrelid::regclass::text as table, exists (
           select from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey) and a.attname = 'mid'
         ) as "hasMid"
         from pg_index i join pg_class c on c.oid = i.indrelid
         where i.indisunique and c.relnamespace = 'public'::regnamespace`,
      );
      const data = rows.filter((row) => !others.includes(row.table));
      expect(data.map((row) => row.index)).toContain('payments_mid_order_id_attempt_key');
      // A wallet token pays once in all accounts of a merchant.
      expect(data.filter((row) => !row.hasMid).map((row) => row.index)).toEqual(['wallet_tokens_once']);
    });

    test('foreign keys between these tables contain mid, and none leads from them to another table but accounts', async () => {
      const { rows } = await pool.query(
        `select f.conname as name, f.conrelid::regclass::text as table, f.confrelid::regclass::text as target, exists (
           select from pg_attribute a where a.attrelid = f.conrelid and a.attnum = any (f.conkey) and a.attname = 'mid'
         ) as "hasMid"
         from pg_constraint f where f.contype = 'f' and f.connamespace = 'public'::regnamespace`,
      );
      const data = rows.filter((row) => !others.includes(row.table));
      expect(data.length).toBeGreaterThan(0);
      expect(data.filter((row) => !row.hasMid)).toEqual([]);
      expect(data.filter((row) => others.includes(row.target) && row.target !== 'accounts')).toEqual([]);
    });
  });
});

describe('migrations', () => {
  test('a second run does nothing', async () => {
    const before = await shop.rows('select * from migrations order by name');
    expect(await migrateAt(shop.connection)).toEqual([]);
    expect(await shop.rows('select * from migrations order by name')).toEqual(before);
    expect(before[0]).toMatchObject({ name: '0001_foundation.sql', digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('two processes that start at the same time run each file once', async () => {
    const server = inject('database');
    const name = `test_${randomBytes(6).toString('hex')}`;
    await query(server, `create database ${name}`);
    const runs = await Promise.all([1, 2, 3].map(() => migrateAt({ ...server, database: name })));
    const names = (await shop.rows('select name from migrations order by name')).map((row) => row.name);
    expect(runs.filter((run) => run.length > 0)).toEqual([names]);
    await query(server, `drop database ${name}`);
  });

  test('refuses a file that was changed after it ran', async () => {
    await shop.rows(`update migrations set digest = 'x' || digest where name = '0001_foundation.sql'`);
    await expect(migrateAt(shop.connection)).rejects.toThrow(
      'The migration 0001_foundation.sql was changed after this database ran it: add a new file instead.',
    );
    await shop.rows(`update migrations set digest = substr(digest, 2) where name = '0001_foundation.sql'`);
    expect(await migrateAt(shop.connection)).toEqual([]);
  });
});
