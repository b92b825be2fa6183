/** A gateway process that dies at a chosen point: before or after one of its commits or calls to other servers. */
import { createHash } from 'node:crypto';
import type { Gateway } from '../../src/core/context.ts';
import { createLog } from '../../src/lib/text/log.ts';
import { createApp } from '../../src/server/app.ts';
import { openGateway } from '../../src/server/gateway.ts';
import { ADMIN_TOKEN, type TestGateway } from './gateway.ts';

/** What a process reaches outside of itself: the stores, and the clients of other servers. */
const STORES = [
  ...(['payments', 'operations', 'schedules', 'cards', 'credits', 'callbacks', 'cardAttempts'] as const),
  ...(['notifications', 'chargebacks', 'walletTokens', 'receipts'] as const),
  ...(['accounts', 'apiCalls', 'installation', 'projections', 'callbackInbox', 'audit'] as const),
];
/** Their writes move no money, and some happen in the background. */
const BACKGROUND = new Set<string>(['accounts', 'apiCalls', 'installation', 'projections', 'callbackInbox', 'audit']);

/** Methods of stores that write nothing; all others commit. */
const READS =
  /^(find|list|of$|ofSession|status|history|attempts|count|due|is[A-Z]|has[A-Z]|about|dataKey|fingerprintKey|former|announce|awaitPaymentWrites|readEvidence|evidence)/;
/** Methods of clients that send something. */
const CALLS = /^(submit|query|queryOperation|resume|withdraw|operate|authenticate|send)$/;

/** A point of an operation: `payments.transition 2` is the second commit of that method. */
export interface CrashPoint {
  when: 'before' | 'after';
  step: string;
}

export interface CrashingProcess {
  url: string;
  gateway: Gateway;
  /** From now on the steps are counted, and the process dies at the point. */
  arm(point?: CrashPoint): void;
  /** Whether the process died; what it does afterwards reaches nothing. */
  readonly isDead: boolean;
  died: Promise<void>;
  /** The commits and calls since it was armed. */
  steps: readonly string[];
  close(): Promise<void>;
}

class Killed extends Error {}

/** Starts a second process over the database and the provider of a test gateway. */
export async function startCrashingProcess(
  shop: Pick<TestGateway, 'connection' | 'provider'>,
  masterKey: string,
): Promise<CrashingProcess> {
  const log = createLog('silent', { write: () => undefined });
  const { gateway, close } = await openGateway({
    connection: shop.connection,
    environment: 'sandbox',
    masterKey,
    log,
    provider: shop.provider,
  });
  const steps: string[] = [];
  const counts = new Map<string, number>();
  const death = Promise.withResolvers<void>();
  let point: CrashPoint | undefined;
  let isArmed = false;
  let isDead = false;

  const dieAt = (step: string, when: CrashPoint['when']): void => {
    if (point?.step === step && point.when === when) {
      isDead = true;
      death.resolve();
    }
    if (isDead) throw new Killed('This process was killed.');
  };

  async function reach(name: string, isStep: boolean, call: () => unknown): Promise<unknown> {
    if (isDead) throw new Killed('This process was killed.');
    if (!isArmed || !isStep) return call();
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const step = count === 1 ? name : `${name} ${count}`;
    steps.push(step);
    dieAt(step, 'before');
    const result = await call();
    dieAt(step, 'after');
    return result;
  }

  /** The same object; the methods that `isOutside` selects go through `reach`. */
  function watched<Target extends object>(
    target: Target,
    prefix: string,
    isOutside: (method: string) => boolean,
    isStep: (method: string) => boolean,
  ): Target {
    return new Proxy(target, {
      get(object, property) {
        const member = Reflect.get(object, property);
        if (typeof member !== 'function' || typeof property !== 'string' || !isOutside(property)) return member;
        return (...values: unknown[]) =>
          reach(`${prefix}.${property}`, isStep(property), () => Reflect.apply(member, object, values));
      },
    });
  }

  const isCall = (method: string): boolean => CALLS.test(method);
  const parts = gateway as unknown as Record<string, object>;
  for (const name of STORES) {
    const isCommit = (method: string): boolean => !BACKGROUND.has(name) && !READS.test(method);
    parts[name] = watched(gateway[name], name, () => true, isCommit);
  }
  gateway.connectors = Object.fromEntries(
    Object.entries(gateway.connectors).map(([name, connector]) => [
      name,
      watched(connector, 'provider', isCall, isCall),
    ]),
  );
  gateway.receiver = watched(gateway.receiver, 'merchant', isCall, isCall);
  if (gateway.threeDs) gateway.threeDs = watched(gateway.threeDs, 'directory', isCall, isCall);

  const app = createApp(gateway, {
    isTrustedProxy: () => false,
    takesRequests: true,
    adminTokenDigest: createHash('sha256').update(ADMIN_TOKEN).digest(),
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    url,
    gateway,
    arm(at) {
      point = at;
      isArmed = true;
    },
    get isDead() {
      return isDead;
    },
    died: death.promise,
    steps,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await close();
    },
  };
}
