/** Fills a database with accounts and payments as a gateway leaves them, by set-based SQL, for benchmarks of a large database. */
import pg from 'pg';
import { type Connection, openDatabase } from '../src/store/database/database.ts';
import { PROJECTIONS } from '../src/store/projections/all.ts';
import { LAST_NUMBERS } from '../src/store/projections/portions.ts';
import type { Projection } from '../src/store/projections/projection.ts';
import { createProjectionStore } from '../src/store/projections/projections.ts';
import { foldAll } from './fold-all.ts';

export interface Size {
  payments: number;
  accounts: number;
  /** Over how many days, up to now, the payments are distributed. */
  days: number;
  /** Whether the accounts have had a price plan all the time. */
  isPriced?: boolean;
  /** The only projection that contains the payments, by its name; the others begin after them. Without it, all contain them. */
  projection?: string;
}

const PORTION = 50_000;

/** Account 0 has the most payments, the last one the fewest. */
export const accountId = (number: number): string => `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;

const ACCOUNTS = `
  insert into accounts (mid, name, environment, client_key, merchant_key, password, callback_secret, settings, created_at)
  select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Shop ' || n, 'sandbox', 'test_c' || n,
    'test_m' || n, '', '', '{"callback_url": "https://shop.example/callbacks"}', now() - $2 * interval '1 day'
  from generate_series(0, $1::int - 1) n`;

/** The price plan of the accounts. */
export const PLAN_ID = '00000000-0000-7000-8000-00000000feed';

const PRICES = `
  with plan as (
    insert into price_plans (plan_id, name, side, created_at)
    values ('${PLAN_ID}', 'Bench', 'sell', now() - $1 * interval '1 day')
  ), version as (
    insert into price_plan_versions (plan_id, version, valid_from, refund_policy, tax_percent, lines, created_at)
    values ('${PLAN_ID}', 1, now() - $1 * interval '1 day', 'proportional', '19',
      '[{"event": "sale", "brands": [], "networks": [], "currencies": [], "connectors": [], "percent": "1.4"}]', now())
  )
  insert into account_price_plans (mid, assigned_at, plan_id)
  select mid, now() - $1 * interval '1 day', '${PLAN_ID}' from accounts`;

/** A partition of the ledger for each month, as a gateway that has run all the time has them. */
const PARTITIONS = `
  select format('create table ledger_entries_%s partition of ledger_entries for values from (%s) to (%L)',
    to_char(month, 'YYYYMMDD'), case when month = first then 'minvalue' else quote_literal(lag(until) over (order by month)) end,
    until) as text
  from (
    select month, min(month) over () as first,
      lpad(to_hex((extract(epoch from (month + interval '1 month') at time zone 'UTC') * 1000)::bigint), 12, '0') || repeat('0', 20) as until
    from generate_series(date_trunc('month', now() at time zone 'UTC' - $1 * interval '1 day'),
      date_trunc('month', now() at time zone 'UTC') + interval '1 month', interval '1 month') month
  ) months order by month`;

/**
 * A portion of payments with everything that belongs to them. Parameters: its first and last number, the number of all
 * payments, of accounts and of days. Later days have more payments; few accounts have most of them.
 */
const PAYMENTS = `
  with drawn as materialized (
    select n, date_trunc('milliseconds', now() - interval '1 minute'
        - $5::int * interval '1 day' * (1 - power(n::float8 / $3::int, 0.7))) as at,
      random() as outcome, random() as brand, random() as currency, random() as size, random() as payer,
      ('00000000-0000-7000-8000-' || lpad(to_hex(floor(power(random(), 3) * $4::int)::bigint), 12, '0'))::uuid as mid
    from generate_series($1::int, $2::int) n
  ), chosen as materialized (
    select d.*, 500 + floor(power(size, 4) * 100000)::bigint as amount,
      (array['card', 'card', 'card', 'card', 'card', 'wallet-a', 'ips', 'bank-a', 'pin-a', 'upi-b'])[1 + floor(d.brand * 10)::int] as brand_name,
      (array['EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'USD', 'USD', 'USD', 'GBP', 'JPY'])[1 + floor(d.currency * 10)::int] as code,
      case when n > $3::int - greatest(20, $3::int / 5000) then 'REDIRECT' when outcome < 0.8 then 'SETTLED' when outcome < 0.92 then 'DECLINED'
        when outcome < 0.95 then 'REFUND' when outcome < 0.953 then 'CHARGEBACK' when outcome < 0.96 then 'PENDING'
        when outcome < 0.985 then 'VOID' else 'EXPIRED' end::payment_state as state,
      (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8000'
        || lpad(to_hex(n), 12, '0'))::uuid as payment_id
    from drawn d
  ), made as materialized (
    select c.*, case when state = 'REDIRECT' or brand_name not in ('card', 'wallet-a') then 1 else 0 end as redirects,
      state = 'SETTLED' and outcome < 0.02 as is_part_refunded,
      state in ('SETTLED', 'REFUND', 'CHARGEBACK') as is_captured,
      state in ('REFUND', 'CHARGEBACK', 'VOID', 'EXPIRED') as is_followed
    from chosen c
  ), rows as materialized (
    select m.*, case when state = 'REDIRECT' then 2 else 2 + redirects + (is_followed or is_part_refunded)::int end as length
    from made m
  ), payments_made as (
    insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
      amount_text, currency, amount, authorised, captured, refunded, due_at, is_authorisation, is_recurring_init,
      fingerprint, descriptor, decline_reason, provider_reference, recurring_token, attention, details, created_at,
      updated_at)
    select mid, payment_id, 'order-' || n, 1, (case when n % 3 = 0 then 'checkout' else 's2s' end)::protocol, brand_name,
      'upstream', state, length, case code when 'JPY' then amount::text else (amount / 100.0)::numeric(14, 2)::text end,
      code, amount, case when state in ('DECLINED', 'REDIRECT') then 0 else amount end,
      case when is_captured then amount else 0 end,
      case when state = 'REFUND' then amount when is_part_refunded then amount / 2 else 0 end,
      case when state = 'REDIRECT' then now() + interval '30 days' end, false, n % 50 = 0, md5(n::text), 'SHOP',
      case when state = 'DECLINED' then (array['Insufficient funds', 'Do not honour', 'Expired card', 'Suspected fraud',
        'The payer cancelled.', 'Limit exceeded'])[1 + n % 6] end,
      'ref-' || n, case when n % 50 = 0 then 'rec-' || n end,
      case when outcome between 0.9 and 0.9002 then 'late_success'::attention end,
      jsonb_build_object('description', 'An order of tea, number ' || n, 'returnUrl', 'https://shop.example/return',
        'payer', jsonb_build_object('ip', '203.0.113.' || n % 250, 'email',
          'payer' || floor(payer * payer * greatest(1, $3::int / 4))::bigint || '@example.com', 'first_name', 'Ada'))
        || case when brand_name = 'card' then jsonb_build_object('card', jsonb_build_object('masked',
          '411111******' || lpad((n::bigint * 7919 % 10000)::text, 4, '0'), 'network', 'visa')) else '{}' end,
      at, at + interval '20 seconds'
    from rows
  ), history_made as (
    insert into history (mid, payment_id, seq, event, from_state, to_state, actor, call, at, amount)
    select r.mid, r.payment_id, e.seq, e.event, e.from_state::payment_state, e.to_state::payment_state, e.actor::actor,
      e.call, r.at + e.seq * interval '5 seconds', e.amount
    from rows r cross join lateral (
      values
        (true, 1, 'opened', null, 'PREPARE', 'merchant', null::jsonb, null::bigint),
        (redirects = 1, 2, 'redirected', 'PREPARE', 'REDIRECT', 'provider',
          jsonb_build_object('verb', 'submit', 'connector', 'upstream', 'outcome', 'redirected', 'tookMs', 20 + n % 300), null),
        (state <> 'REDIRECT', 2 + redirects,
          case when is_captured then 'settled' when state = 'DECLINED' then 'declined' else 'authorised' end,
          case when redirects = 1 then 'REDIRECT' else 'PREPARE' end,
          case when is_captured then 'SETTLED' when state = 'DECLINED' then 'DECLINED' else 'PENDING' end, 'provider',
          jsonb_build_object('verb', 'submit', 'connector', 'upstream', 'outcome', lower(state::text), 'tookMs', 20 + n % 900),
          case when is_captured then r.amount end),
        (is_followed or is_part_refunded, 3 + redirects,
          case state when 'REFUND' then 'refunded' when 'CHARGEBACK' then 'chargedBack' when 'VOID' then 'voided'
            when 'EXPIRED' then 'expired' else 'partlyRefunded' end,
          case when is_captured then 'SETTLED' else 'PENDING' end, state::text, 'merchant', null,
          case when is_part_refunded then r.amount / 2 when is_captured then r.amount end)
    ) e(happens, seq, event, from_state, to_state, actor, call, amount)
    where e.happens
  ), operations_made as (
    insert into operations (mid, operation_id, payment_id, connector, verb, amount, state, query_count, requested_at, finished_at)
    select mid, gen_random_uuid(), payment_id, 'upstream',
      (case when state = 'VOID' then 'void' else 'refund' end)::operation_verb,
      case when is_part_refunded then amount / 2 else amount end, 'done', 0, at + interval '14 seconds', at + interval '15 seconds'
    from rows where state in ('REFUND', 'VOID') or is_part_refunded
  ), callbacks_made as (
    insert into callbacks (mid, payment_id, seq, type, body, is_json, endpoint, state, reason, attempts, due_at, created_at, finished_at)
    select mid, payment_id, length, 'sale', repeat('order_id=order-' || n || '&status=' || state || '&', 12), false, '',
      (case when n % 200 = 0 then 'parked' when n > $3::int - 2000 and n % 20 = 0 then 'waiting' else 'delivered' end)::callback_state,
      case when n % 200 = 0 then 'All attempts failed.' end, 1,
      case when n > $3::int - 2000 and n % 20 = 0 and n % 200 <> 0 then now() + interval '30 days' end, at, at
    from rows where state <> 'REDIRECT'
  ), attempts_made as (
    insert into callback_attempts (mid, payment_id, seq, attempt, at, status, took_ms)
    select mid, payment_id, length, 1, at, case when n % 200 = 0 then 500 else 200 end, 30 + n % 200
    from rows where state <> 'REDIRECT'
  )
  insert into api_calls (mid, call_id, at, request_id, protocol, action, address, order_id, payment_id, status, error,
    took_ms, request, answer)
  select mid, payment_id, at, 'bench-' || n, 's2s', 'SALE', '203.0.113.7', 'order-' || n, payment_id,
    case when n % 40 = 0 then 400 else 200 end, case when n % 40 = 0 then 'invalidData' end, n % 100,
    '[["action", "SALE"], ["order_amount", "10.00"]]', '{}'
  from rows where n % 10 = 0 and at > now() - interval '7 days'`;

/** The indexes, and the constraints that have one, of the tables that are filled; they are built after the rows are written. */
const INDEXES = `
  select i.indexrelid::regclass::text as name,
    case when c.oid is null then 'drop index ' || i.indexrelid::regclass
      else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as remove,
    case when c.oid is null then replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
      else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end as build
  from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
  where i.indrelid in ('payments'::regclass, 'history'::regclass, 'operations'::regclass, 'callbacks'::regclass,
    'callback_attempts'::regclass, 'api_calls'::regclass)
  order by c.oid is null, name`;

/** Has all projections but one begin here. */
const SKIP = `
  update projections set history_number = last.history, callback_attempts_number = last.callback_attempts
  from (select ${LAST_NUMBERS}) last where name <> $1`;

interface IndexStatements {
  name: string;
  remove: string;
  build: string;
}

/** Fills an empty, migrated database. */
export async function generate(connection: Connection, size: Size, progress: (text: string) => void): Promise<void> {
  const client = new pg.Client({
    ...connection,
    options: '-c timezone=UTC -c synchronous_commit=off -c work_mem=256MB',
  });
  await client.connect();
  const started = performance.now();
  const seconds = (): string => `${Math.round((performance.now() - started) / 1000)} s`;
  await client.query(`set maintenance_work_mem = '1GB'`);
  await client.query('select setseed(0.5)');
  await client.query(ACCOUNTS, [size.accounts, size.days]);
  if (size.isPriced) await client.query(PRICES, [size.days + 1]);
  const { rows: partitions } = await client.query<{ text: string }>(PARTITIONS, [size.days]);
  await client.query(['drop table ledger_entries_before', ...partitions.map(({ text }) => text)].join('; '));
  const { rows: indexes } = await client.query<IndexStatements>(INDEXES);
  for (const { remove } of indexes) await client.query(remove);
  for (let first = 1; first <= size.payments; first += PORTION) {
    const last = Math.min(size.payments, first + PORTION - 1);
    await client.query(PAYMENTS, [first, last, size.payments, size.accounts, size.days]);
    progress(`${last.toLocaleString('en')} of ${size.payments.toLocaleString('en')} payments, ${seconds()}`);
  }
  for (const { name, build } of indexes) {
    progress(`index ${name}, ${seconds()}`);
    await client.query(build);
  }
  progress(`vacuum, ${seconds()}`);
  await client.query('vacuum analyze');
  if (size.projection !== undefined) await client.query(SKIP, [size.projection]);
  await buildProjections(connection, (text) => progress(`${text}, ${seconds()}`));
  await client.query('vacuum analyze');
  await client.end();
  progress(`done, ${seconds()}`);
}

/**
 * Folds all rows into the projections in large portions, all projections at once; the work loop folds small ones one after
 * another, which takes longer.
 */
async function buildProjections(connection: Connection, progress: (text: string) => void): Promise<void> {
  const database = openDatabase(connection, () => undefined);
  const store = createProjectionStore(database);
  const foldOne = async (projection: Projection): Promise<void> => {
    const inLargePortions = { ...projection, portion: { rows: 40_000, payments: 10_000 } };
    await foldAll(store, inLargePortions, async () => {
      const [status] = await store.statuses([projection]);
      progress(`projection ${projection.name}: ${status?.rowsBehind.toLocaleString('en')} rows left`);
    });
  };
  await Promise.all(PROJECTIONS.map(foldOne));
  await database.close();
}
