/** A statement of 200,000 rows: it is read in batches, and compared in portions. */
import { expect, test, vi } from 'vitest';
import { openShop } from '../support/gateway.ts';
import { uploadStatement } from '../support/statements.ts';

const shop = openShop();
const COUNT = 200_000;
const LISTED = COUNT - 1000;
const UNKNOWN = 500;
const OTHER_AMOUNT = 250;
const PORTION = 5000;
const PART = 1024 * 1024;

/** A day on which nothing else happens. */
const DAY = '2026-03-05';

async function fill(): Promise<string[]> {
  const { mid } = shop.merchant;
  await shop.rows(`
    insert into payments (mid, payment_id, order_id, attempt, protocol, brand, connector, state, history_length,
      amount_text, currency, amount, authorised, captured, is_authorisation, is_recurring_init, fingerprint, descriptor,
      details, created_at, updated_at)
    select '${mid}', md5('payment ' || n)::uuid, 'large-' || n, 1, 's2s', 'vcard', 'vcard', 'SETTLED', 2, '10.00', 'USD', 1000,
      1000, 1000, false, false, 'f', 'Test Shop', '{}', '${DAY} 12:00Z', '${DAY} 12:00Z'
    from generate_series(1, ${COUNT}) n`);
  await shop.rows(`
    insert into history (mid, payment_id, seq, event, from_state, to_state, actor, at, amount)
    select mid, payment_id, s.seq, s.event, s.from_state::payment_state, s.to_state::payment_state, 'provider', created_at,
      s.amount
    from payments cross join (
      values (1, 'opened', null, 'PREPARE', null), (2, 'settled', 'PREPARE', 'SETTLED', 1000)
    ) s(seq, event, from_state, to_state, amount)`);
  await shop.rows('analyze payments, history');
  return (await shop.rows('select payment_id from payments order by payment_id')).map((row) => String(row.payment_id));
}

test('is compared without holding more than one batch of its rows', async () => {
  const ids = await fill();
  let bytes = 0;
  const lines = function* (): Generator<Uint8Array> {
    const encoder = new TextEncoder();
    const write = (text: string): Uint8Array => {
      const chunk = encoder.encode(text);
      bytes += chunk.length;
      return chunk;
    };
    yield write('payment_id,type,amount,currency,date,description\r\n');
    const describe = `${DAY},"A description, as providers write it"\r\n`;
    for (let start = 0; start < LISTED; start += 1000) {
      const some = ids.slice(start, Math.min(start + 1000, LISTED));
      yield write(
        some.map((id, n) => `${id},charge,${start + n < OTHER_AMOUNT ? '10.01' : '10.00'},USD,${describe}`).join(''),
      );
    }
    yield write(`unknown,charge,10.00,USD,${describe}`.repeat(UNKNOWN));
  };
  const insert = vi.spyOn(shop.gateway.reconciliationRows, 'insert');
  const compare = vi.spyOn(shop.gateway.reconciliationRows, 'comparePortion');
  const part = vi.spyOn(shop.gateway.reconciliations, 'insertPart');
  const { status, body } = await uploadStatement(shop, ReadableStream.from(lines()));
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body).toMatchObject({ bytes, rows_read: LISTED + UNKNOWN, from: `${DAY} 00:00:00` });
  const counts = body.totals.map(({ outcome, rows }: { outcome: string; rows: number }) => [outcome, rows]);
  expect(Object.fromEntries(counts)).toEqual({
    different: OTHER_AMOUNT,
    matched: LISTED - OTHER_AMOUNT,
    missing_here: UNKNOWN,
    missing_there: COUNT - LISTED,
  });
  expect(insert.mock.calls.length).toBe(Math.ceil((LISTED + UNKNOWN) / PORTION));
  expect(Math.max(...insert.mock.calls.map(([, , rows]) => rows.length))).toBe(PORTION);
  // The last portion finds that there are no more.
  expect(compare.mock.calls.length).toBe(Math.ceil(LISTED / PORTION) + 1);
  // A part is complete as soon as a chunk exceeds its size.
  expect(Math.max(...part.mock.calls.map(([, , content]) => content.length))).toBeLessThan(2 * PART);

  const list = vi.spyOn(shop.gateway.reconciliationRows, 'list');
  const file = await shop.admin('GET', `/reconciliations/${body.reconciliation_id}/rows.csv`);
  expect(file.body.match(/\r\n/g)).toHaveLength(1 + COUNT + UNKNOWN);
  expect(Math.max(...list.mock.calls.map(([, , limit]) => limit))).toBe(PORTION);
}, 600_000);
