/** Measures callbacks under a load of sales: whether deliveries keep up, and how much they slow down the sales. */
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

/** The payments per second that deliveries must keep up with, if the machine reaches that rate. */
const TARGET_RATE = 1000;

export interface CallbackResult {
  /** The share of the callbacks that were delivered when the load ended. */
  deliveredShare: number;
  /** The rate of callbacks of a backlog, relative to the rate of sales. */
  backlogRate: number;
}

export async function measureCallbacks({ server, merchant }: Measured): Promise<CallbackResult> {
  const receiver = await startServer('receiver');
  const merchantWithCallbacks = await newMerchant(server.url as URL, { callback_url: receiver.url });
  const { mid } = merchantWithCallbacks;
  const waiting = async (): Promise<number> =>
    Number(
      (await wal.query(`select count(*) from callbacks where mid = $1 and state = 'waiting'`, [mid])).rows[0]?.count,
    );
  const secondsUntilDrained = async (): Promise<number> => {
    const started = performance.now();
    while ((await waiting()) > 0) await pause(50);
    return (performance.now() - started) / 1000;
  };

  const alone = await measure('(k) SALE without callbacks', server, () => saleForm(merchant));
  const form = () => saleForm(merchantWithCallbacks);
  await measure('(k) SALE with callbacks, maximum rate', server, form, { warmUp: 4 });
  const backlog = await waiting();
  const seconds = await secondsUntilDrained();
  progress(`(k) a backlog of ${backlog} callbacks was delivered in ${seconds.toFixed(1)} s`);
  // Without a backlog, callbacks are delivered at the rate of the sales.
  const backlogPerSecond = backlog > 0 ? backlog / seconds : alone.perSecond;
  rows.push({ name: '(k) callbacks of the backlog', perSecond: backlogPerSecond });

  const perSecond = Math.min(TARGET_RATE, alone.perSecond);
  const before = (await receiver.usage()).received;
  const name = `(k) SALE with callbacks, ${Math.round(perSecond)} per second`;
  const paced: Row = await measure(name, server, form, { perSecond, warmUp: 0 });
  const delivered = (await receiver.usage()).received - before;
  const remaining = await waiting();
  const deliveredShare = delivered / (delivered + remaining);
  progress(`(k) ${delivered} of ${delivered + remaining} callbacks delivered`);
  rows.push({ name: '(k) callbacks at the same time', perSecond: paced.perSecond * deliveredShare });
  await secondsUntilDrained();
  await receiver.stop();
  return { deliveredShare, backlogRate: backlogPerSecond / alone.perSecond };
}
