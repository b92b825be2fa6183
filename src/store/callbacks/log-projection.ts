/** The projection of the log of callbacks: their keys in order of time; their states are read from the callbacks. */
import type { Projection } from '../projections/projection.ts';

/** The first event, by which a payment is opened, has no callback. */
const keysOf = (history: string): string => `
  select c.mid, c.payment_id, c.seq, c.created_at from (${history}) h join callbacks c using (mid, payment_id, seq)
  where h.seq > 1`;

export const callbackLog: Projection = {
  name: 'callbacks',
  logs: ['history'],
  everyMs: 1000,
  portion: { rows: 20_000, payments: 5000 },
  async fold(client, { history }) {
    await client.query(`insert into callback_log (mid, payment_id, seq, created_at) ${keysOf(history)}`);
  },
  async reset(client) {
    await client.query('delete from callback_log');
  },
  check: ({ history }) => `
    select 'The log of callbacks does not have the callback ' || k.payment_id || ' ' || k.seq as violation from (${keysOf(history)}) k
    where not exists (
      select from callback_log l
      where l.mid = k.mid and l.created_at = k.created_at and l.payment_id = k.payment_id and l.seq = k.seq
    )`,
};
