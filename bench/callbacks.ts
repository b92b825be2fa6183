/** Callbacks beside a load of sales: whether they keep up, and what they cost the sales. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Measured,
  measure,
  newMerchant,
  progress,
  type Row,
  rows,
  saleForm,
  startServer,
  wal,
} from './harness.ts';

/** Payments a second that deliveries have to keep up with, where the machine sells that many. */
const WANTED_RATE = 1000;

export interface CallbackResult {
  /** Callbacks delivered for each payment by the end of the load. */
  keptUp: number;
  /** Callbacks of a backlog told in a second to sales in a second. */
  drains: number;
}

export async function measureCallbacks({ server, merchant }: Measured): Promise<CallbackResult> {
  const receiver = await startServer('receiver');
  const told = await newMerchant(server.url as URL, { callback_url: receiver.url });
  const waiting = async (): Promise<number> =>
    Number(
      (await wal.query(`select count(*) from callbacks where mid = $1 and state = 'waiting'`, [told.mid])).rows[0]
        ?.count,
    );
  const drained = async (): Promise<number> => {
    const started = performance.now();
    while ((await waiting()) > 0) await pause(50);
    return (performance.now() - started) / 1000;
  };

  const alone = await measure('(k) SALE, nobody to tell', server, () => saleForm(merchant));
  await measure('(k) SALE, told as fast as it goes', server, () => saleForm(told), { warmUp: 4 });
  const backlog = await waiting();
  const took = await drained();
  progress(`(k) a backlog of ${backlog} was told in ${took.toFixed(1)} s`);
  // Where no backlog came to be, they are told as fast as sales are made.
  const perSecondOfBacklog = backlog > 0 ? backlog / took : alone.perSecond;
  rows.push({ name: '(k) callbacks of the backlog', perSecond: perSecondOfBacklog });

  const perSecond = Math.min(WANTED_RATE, alone.perSecond);
  const before = (await receiver.usage()).received;
  const paced: Row = await measure(`(k) SALE, told, ${Math.round(perSecond)} a second`, server, () => saleForm(told), {
    perSecond,
    warmUp: 0,
  });
  const delivered = (await receiver.usage()).received - before;
  const left = await waiting();
  progress(`(k) ${delivered} told, ${left} left of ${delivered + left}`);
  rows.push({ name: '(k) callbacks beside it', perSecond: (paced.perSecond * delivered) / (delivered + left) });
  await drained();
  await receiver.stop();
  return { keptUp: delivered / (delivered + left), drains: perSecondOfBacklog / alone.perSecond };
}
