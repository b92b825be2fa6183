/** The gateway processes of a run: composed over simulated parts, killed, paused and started again. */
import type { Gateway } from '../../src/core/context.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { composeGateway } from '../../src/server/gateway.ts';
import type { Faults } from './faults.ts';
import type { Installation } from './installation.ts';
import type { MerchantServer } from './merchant-server.ts';
import type { Provider } from './provider.ts';
import { type Scheduler, WORLD } from './scheduler.ts';

export type Role = 'web' | 'worker';

export interface Process {
  number: number;
  role: Role;
  gateway: Gateway;
  died: Promise<void>;
}

export interface Processes {
  /** The processes of a role that live now. */
  living(role: Role): readonly Process[];
  /** Starts something in a process; undefined if the process dies before the result. */
  call<Result>(
    process: Process,
    label: string,
    act: (gateway: Gateway) => Promise<Result>,
  ): Promise<Result | undefined>;
  /** Kills or pauses a process, if that is the fault of this moment. */
  disturb(): Promise<void>;
  /** What processes logged as errors. */
  errors: readonly string[];
}

const PER_ROLE = 2;
/** Shorter and longer than a lease, and than the time after which a payment counts as never received. */
const PAUSES_MS = [2000, 40_000, 300_000, 300_000];

/** What a process logs if time passes while its statements wait. */
const EXPECTED = /did not answer within|Too many requests are waiting|reached the statement too late/;

/** Leaves out what does not concern payments and would be most of the statements of a run. */
function omit(gateway: Gateway): void {
  gateway.projections.settled = async () => undefined;
  gateway.cards.eraseLeftovers = async () => 0;
  gateway.walletTokens.forget = async () => 0;
  gateway.callRecorder.sweep = async () => undefined;
  // No process listens.
  gateway.callbacks.announce = async () => undefined;
}

interface Parts {
  scheduler: Scheduler;
  installation: Installation;
  faults: Faults;
  provider: Provider;
  merchant: MerchantServer;
}

export function startProcesses({ scheduler, installation, faults, provider, merchant }: Parts): Processes {
  const { chance } = scheduler;
  const errors: string[] = [];
  const log = createLog('error', { write: (line) => void (EXPECTED.test(line) || errors.push(line)) });
  const all = new Map<Process, PromiseWithResolvers<void>>();
  let count = WORLD;

  function start(role: Role): void {
    const number = ++count;
    const { database, masterKey, metrics, walletRoots, fingerprints } = installation;
    const connector = provider.of(number, role === 'worker');
    const gateway = composeGateway(
      {
        database: database.of(number),
        connectors: { byName: { vcard: connector, upstream: connector }, close: async () => undefined },
        receiver: merchant.of(number),
        metrics,
        // All payments are in the first partitions.
        partitions: { exclusively: async () => undefined },
        walletRoots,
        isListening: () => true,
      },
      { environment: 'sandbox', masterKey, log },
    );
    omit(gateway);
    Object.assign(gateway, { fingerprints, publicUrl: 'https://pay.example', inboundUrl: 'https://in.example' });
    const death = Promise.withResolvers<void>();
    const process = { number, role, gateway, died: death.promise };
    all.set(process, death);
    scheduler.note(`${number} starts as ${role}`);
  }

  async function kill(process: Process): Promise<void> {
    await scheduler.kill(process.number);
    all.get(process)?.resolve();
    all.delete(process);
    scheduler.after(WORLD, chance.between(100, 20_000), `a new ${process.role} starts`, () => start(process.role));
  }

  for (let each = 0; each < PER_ROLE; each++) {
    start('web');
    start('worker');
  }
  return {
    errors,
    living: (role) => [...all.keys()].filter((process) => process.role === role),
    async call<Result>(process: Process, label: string, act: (gateway: Gateway) => Promise<Result>) {
      const result = Promise.withResolvers<Result>();
      void scheduler.step(process.number, label, async () => {
        act(process.gateway).then(result.resolve, result.reject);
      });
      return Promise.race([result.promise, process.died.then(() => undefined)]);
    },
    async disturb() {
      const living = [...all.keys()];
      if (living.length === 0) return;
      const writing = living.filter(({ number }) => scheduler.isWriting(number));
      const pause = ({ number }: Process) => scheduler.freeze(number, chance.between(100, chance.of(PAUSES_MS)));
      if (faults.happens('crash')) await kill(chance.of(living));
      else if (faults.happens('pause')) await pause(chance.of(living));
      else if (writing.length > 0 && faults.happens('stall'))
        await (chance.oneIn(0.3) ? kill : pause)(chance.of(writing));
    },
  };
}
