/** A projection for tests: a copy of the keys of all rows of the logs, in which a row that is folded twice is an error. */
import type { Log, Projection } from '../../src/store/projections/projection.ts';

export const CREATE_ROWS = `
  create table folded_rows (log text, mid uuid, payment_id uuid, seq int, attempt int, fold bigserial,
    primary key (log, mid, payment_id, seq, attempt))`;

const keys = (log: Log, rows: string): string =>
  `select '${log}', mid, payment_id, seq, ${log === 'history' ? '0' : 'attempt'} from (${rows}) r
   order by number, mid, payment_id, seq`;

export const rowProjection: Projection = {
  name: 'rows',
  logs: ['history', 'callback_attempts'],
  everyMs: 0,
  portion: { rows: 5, payments: 1 },
  async fold(client, { history, attempts }) {
    const insert = 'insert into folded_rows (log, mid, payment_id, seq, attempt)';
    await client.query(`${insert} ${keys('history', history)}`);
    await client.query(`${insert} ${keys('callback_attempts', attempts)}`);
  },
  async reset(client) {
    await client.query(`delete from folded_rows where log = 'history'`);
  },
  check: ({ history, attempts }) => {
    const stored = 'select log, mid, payment_id, seq, attempt from folded_rows';
    const derived = `(${keys('history', history)}) union all (${keys('callback_attempts', attempts)})`;
    return `select 'row ' || log || ' ' || payment_id || ' ' || seq as violation from (
      (${stored} except (${derived})) union all ((${derived}) except ${stored})
    ) d(log, mid, payment_id, seq, attempt)`;
  },
};
