/** The seeded scheduler: virtual time, and one step at a time, chosen among all that could go next. */
import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Chance, chanceFrom } from '../support/chance.ts';

/** Who takes a step: a gateway process by its number, or everything outside of them. */
export type Owner = number;
export const WORLD: Owner = 0;

interface Step {
  owner: Owner;
  label: string;
  /** The steps of a transaction have it in common; while one is open, no other step is taken. */
  transaction: object | undefined;
  /** Takes effect; its owner learns of it by `resolve` or `reject`. */
  act(): Promise<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface Timer {
  owner: Owner;
  label: string;
  at: number;
  run(): void;
}

export interface Scheduler {
  /** Milliseconds since the start of the run. */
  readonly now: number;
  readonly chance: Chance;
  /** The owner of the code that is running. */
  readonly current: Owner;
  /** Whether no process was delayed so far, by a pause or because time passed while a step of it was ready. */
  readonly isCalm: boolean;
  /** Waits until the scheduler takes this step. */
  step<Result>(owner: Owner, label: string, action: () => Promise<Result>, transaction?: object): Promise<Result>;
  /** Opens or ends a transaction. */
  hold(transaction: object | undefined): void;
  /** Calls a function when the time has come; returns how to cancel that. */
  after(owner: Owner, ms: number, label: string, run: () => void): () => void;
  /** Waits outside of all processes. */
  sleep(ms: number): Promise<void>;
  /** Takes no step of a process for some time; one statement that it sent may take effect. */
  freeze(owner: Owner, ms: number): Promise<void>;
  /** Whether a process waits for the result of a statement that writes payments, or claims or records work. */
  isWriting(owner: Owner): boolean;
  /** Forgets all steps and timers of a process; one statement that it sent may take effect. */
  kill(owner: Owner): Promise<void>;
  /** Adds a line to the trace. */
  note(line: string): void;
  /** Takes steps until nothing is left to do. */
  run(hooks: RunHooks): Promise<void>;
  readonly steps: number;
  readonly trace: readonly string[];
  /** A digest of the trace: equal for two runs that took the same steps. */
  digest(): string;
}

export interface RunHooks {
  /** Called before each step outside of transactions. */
  disturb(): Promise<void>;
  /** Called when no step is ready: the time of the next work, which starts then; undefined if `before` is sooner. */
  nextWork(before: number): Promise<{ at: number; start(): void } | undefined>;
}

const WRITING = /^sql (write|claim|with clock|record_callbacks)/;

/** More steps than any run needs. */
const MOST_STEPS = 5000;

/** How likely time passes although steps are ready: in some runs the processes and the database are quick, or slow. */
const HASTE = [0, 0.01, 0.05, 0.2];

export function createScheduler(seed: number): Scheduler {
  const chance = chanceFrom(seed);
  const haste = chance.of(HASTE);
  const trace: string[] = [];
  let steps: Step[] = [];
  let timers: Timer[] = [];
  let transaction: object | undefined;
  let current = WORLD;
  let now = 0;
  let taken = 0;
  const frozenUntil = new Map<Owner, number>();
  const dead = new Set<Owner>();

  const note = (line: string): void => void trace.push(`${now} ${line}`);
  const timeOf = ({ owner, at }: Timer): number => Math.max(at, frozenUntil.get(owner) ?? 0);
  const isFrozen = (owner: Owner): boolean => (frozenUntil.get(owner) ?? 0) > now;

  function after(owner: Owner, ms: number, label: string, run: () => void): () => void {
    if (dead.has(owner)) return () => undefined;
    const timer: Timer = { owner, label, at: now + Math.max(0, ms), run };
    timers.push(timer);
    return () => {
      timers = timers.filter((each) => each !== timer);
    };
  }

  /** The earliest timer; of several at one time, the one that was set first. */
  const nextTimer = (): Timer | undefined =>
    timers.reduce<Timer | undefined>(
      (first, each) => (first && timeOf(first) <= timeOf(each) ? first : each),
      undefined,
    );

  /** Lets everything run that waits for nothing else: promises and ticks come before the next turn of the event loop. */
  async function settle(owner: Owner, act: () => Promise<void> | void): Promise<void> {
    current = owner;
    await act();
    await setImmediate();
    current = WORLD;
  }

  async function fire(timer: Timer): Promise<void> {
    timers = timers.filter((each) => each !== timer);
    now = Math.max(now, timeOf(timer));
    note(`${timer.owner} ${timer.label}`);
    await settle(timer.owner, () => void timer.run());
  }

  async function take(step: Step): Promise<void> {
    steps = steps.filter((each) => each !== step);
    // No two statements run at the same time, so that few rows have the same time.
    now += 1;
    note(`${step.owner} ${step.label}`);
    await settle(step.owner, () => step.act().then(step.resolve, step.reject));
  }

  /** Lets a statement that a process has sent take effect, or none; the process learns of it later, or never. */
  async function actUnseen(owner: Owner): Promise<void> {
    const sent = steps.filter(({ owner: own, label }) => own === owner && /^sql (?!begin)/.test(label));
    if (sent.length === 0 || chance.oneIn(0.3)) return;
    const step = chance.of(sent);
    note(`${owner} does not see the result of ${step.label}`);
    const result = step.act();
    await result.catch(() => undefined);
    step.act = () => result;
  }

  return {
    get now() {
      return now;
    },
    get current() {
      return current;
    },
    get isCalm() {
      return haste === 0 && frozenUntil.size === 0;
    },
    get steps() {
      return taken;
    },
    chance,
    trace,
    note,
    after,
    step: (owner, label, action, group) =>
      new Promise((resolve, reject) => {
        if (dead.has(owner)) return;
        steps.push({ owner, label, transaction: group, act: action, resolve: resolve as Step['resolve'], reject });
      }),
    hold(group) {
      transaction = group;
    },
    sleep: (ms) => new Promise((resolve) => after(WORLD, ms, 'wait', resolve)),
    async freeze(owner, ms) {
      note(`${owner} is paused for ${Math.round(ms)}`);
      frozenUntil.set(owner, now + ms);
      // The end of the pause is an event of its own.
      after(WORLD, ms, `${owner} goes on`, () => undefined);
      await actUnseen(owner);
    },
    isWriting: (owner) => steps.some((step) => step.owner === owner && WRITING.test(step.label)),
    async kill(owner) {
      note(`${owner} is killed`);
      await actUnseen(owner);
      dead.add(owner);
      steps = steps.filter((step) => step.owner !== owner);
      timers = timers.filter((timer) => timer.owner !== owner);
    },
    async run({ disturb, nextWork }) {
      for (; ; taken++) {
        if (taken > MOST_STEPS) throw new Error('The run does not come to rest.');
        if (!transaction) await disturb();
        const ready = steps.filter(
          (step) => (transaction ? step.transaction === transaction : true) && !isFrozen(step.owner),
        );
        if (transaction && ready.length === 0) throw new Error('A transaction waits for something outside of it.');
        const timer = nextTimer();
        if (ready.length > 0 && (transaction || !timer || !chance.oneIn(haste))) {
          await take(chance.of(ready));
          continue;
        }
        const work = ready.length === 0 ? await nextWork(timer ? timeOf(timer) : Number.POSITIVE_INFINITY) : undefined;
        if (work && (!timer || work.at < timeOf(timer))) {
          now = Math.max(now, work.at);
          await settle(WORLD, () => void work.start());
        } else if (timer) await fire(timer);
        else return;
      }
    },
    digest: () => hash('sha256', trace.join('\n')).slice(0, 16),
  };
}
