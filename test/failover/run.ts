/** One failover run: shops buy while the primary of a cluster is killed, paused or replaced; then all sides are compared. */
import { setTimeout as pause } from 'node:timers/promises';
import { judge, type Verdict } from '../chaos/judge.ts';
import { startMerchantServer } from '../chaos/merchant-server.ts';
import { comeToRest, openShops } from '../chaos/run.ts';
import { newRecords, type Records, type Shop } from '../chaos/shop.ts';
import { type Stage, setStage, untilReady } from '../chaos/stage.ts';
import { type Cluster, type Node, startCluster } from './cluster.ts';

const SHOPS = 4;
/** Requests are not repeated, so that the figures are what a client without retries sees. */
const PATIENCE = { timeoutMs: 20_000, retries: 0, retryPauseMs: 0 };
const RECOVERY_SECONDS = 90;
const LOAD_MS = 3000;

export interface FailoverOptions {
  seed: number;
  rounds: number;
  /** Whether the gateway gets the addresses of both nodes in place of HAProxy's. */
  isDirect?: boolean;
  say?: (line: string) => void;
}

/** What happened in one round. */
export interface Round {
  fault: string;
  /** The longest time without a successful sale, in seconds. */
  outageSeconds: number;
  /** The answers of all requests: success, refused by a rule, 503, or none. */
  answers: Record<'answered' | 'refused' | 'unavailable' | 'unknown', number>;
}

export interface FailoverReport extends Verdict {
  rounds: Round[];
  folder: string;
}

type Fault = (cluster: Cluster, primary: Node, untilRecovered: () => Promise<void>) => Promise<void>;

const FAULTS: Readonly<Record<string, Fault>> = {
  async 'kill the primary'(_cluster, primary, untilRecovered) {
    primary.signal('SIGKILL');
    await untilRecovered();
    primary.start();
  },
  async 'pause the primary'(_cluster, primary, untilRecovered) {
    primary.signal('SIGSTOP');
    await untilRecovered().finally(() => primary.resume());
  },
  async 'switch over'(cluster, _primary, untilRecovered) {
    await cluster.switchOver();
    await untilRecovered();
  },
};

/** Sells one thing after another, and notes when each sale that succeeded began and ended. */
function watchSales(shop: Shop, signal: AbortSignal) {
  const sales: { began: number; ended: number }[] = [];
  const ended = (async () => {
    while (!signal.aborted) {
      const began = performance.now();
      if (await shop.buy()) sales.push({ began, ended: performance.now() });
      await pause(50);
    }
  })();
  return {
    ended,
    async untilSaleAfter(began: number): Promise<void> {
      for (const until = began + RECOVERY_SECONDS * 1000; performance.now() < until; await pause(50))
        if (sales.some((sale) => sale.began > began)) return;
      throw new Error(`No sale succeeded within ${RECOVERY_SECONDS} s.`);
    },
    /** The longest time between two sales since then. */
    longestGapMs(since: number): number {
      const ends = [since, ...sales.flatMap((sale) => (sale.ended > since ? sale.ended : []))];
      return Math.max(...ends.slice(1).map((end, index) => end - (ends[index] as number)));
    },
  };
}

export async function runFailover(options: FailoverOptions): Promise<FailoverReport> {
  const { seed, rounds, isDirect = false, say = () => undefined } = options;
  say('Starting etcd, two PostgreSQL nodes under Patroni, HAProxy, the simulator and four gateway processes.');
  const stage = await setStage('failover', (folder) => startCluster(folder, isDirect));
  const merchant = await startMerchantServer();
  const closing = new AbortController();
  try {
    say(`Logs: ${stage.folder}`);
    await untilReady(stage);
    const records = newRecords();
    const [first, ...shops] = await openShops(stage, merchant, records, { seed, count: SHOPS + 1, patience: PATIENCE });
    const watched = watchSales(first as Shop, closing.signal);
    const buying = shops.map((shop) => shop.run(closing.signal));
    const happened: Round[] = [];
    for (let index = 0; index < rounds; index++) {
      const names = Object.keys(FAULTS);
      const fault = names[(seed + index) % names.length] as string;
      say(`Round ${index + 1} of ${rounds}: ${fault}.`);
      const round = await runRound(stage, records, watched, fault);
      say(`  ${round.outageSeconds.toFixed(1)} s without a sale; answers: ${JSON.stringify(round.answers)}`);
      happened.push(round);
    }
    closing.abort();
    await Promise.all([watched.ended, ...buying]);
    say(`The shops are closed: ${records.payments.size} payments known. Waiting until nothing is left to do.`);
    await comeToRest(stage, records, say);
    const verdict = await judge(stage, records, merchant);
    const restarted = stage.gateways.filter(({ starts }) => starts !== 1);
    for (const { name } of restarted)
      verdict.violations.push(`The gateway process ${name} ended and was started again.`);
    return { ...verdict, rounds: happened, folder: stage.folder };
  } finally {
    closing.abort();
    await stage.close();
    await merchant.close();
  }
}

async function runRound(
  { database: cluster }: Stage<Cluster>,
  records: Records,
  watched: ReturnType<typeof watchSales>,
  fault: string,
): Promise<Round> {
  const primary = await cluster.untilComplete();
  const before = answersIn(records);
  const began = performance.now();
  await pause(LOAD_MS);
  await (FAULTS[fault] as Fault)(cluster, primary, () => watched.untilSaleAfter(performance.now()));
  const complete = await cluster.untilComplete();
  if (complete === primary) records.wrong.push(`${primary.name} is the primary still, after "${fault}".`);
  await pause(LOAD_MS);
  const after = answersIn(records);
  const kinds = Object.keys(after) as (keyof Round['answers'])[];
  return {
    fault,
    outageSeconds: watched.longestGapMs(began) / 1000,
    answers: Object.fromEntries(kinds.map((kind) => [kind, after[kind] - before[kind]])) as Round['answers'],
  };
}

function answersIn({ counts }: Records): Round['answers'] {
  const answers = { answered: 0, refused: 0, unavailable: 0, unknown: 0 };
  for (const [key, count] of counts) answers[key.split(' ').at(-1) as keyof Round['answers']] += count;
  return answers;
}
