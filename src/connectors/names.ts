/** Finds the addresses of names without threads, so that name servers that hang keep nobody else's name waiting. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP, type LookupFunction } from 'node:net';
import { LIMITS } from '../rules/limits.ts';

export interface NameOptions {
  /** Who is asked; those of the system, unless a test has its own. */
  servers?: readonly string[];
  hostsFile?: string;
  system?: LookupFunction;
  /** After this time the next server is asked. */
  tryMs?: number;
  totalMs?: number;
}

/** Node looks for late answers once in this time, so a try may last twice as long; after two there is time for a third. */
const TRY_MS = LIMITS.callbackLookupTimeoutMs / 5;

/** When the addresses of one family are known, those of the other are waited for only this long. */
const GRACE_MS = 100;

/** A name that only this machine, or the network that it is in, can know. */
const LOCAL_NAME = /^[^.]+$|\.localhost$/;

const late = (): NodeJS.ErrnoException =>
  Object.assign(new Error('The name servers did not answer in time.'), { code: 'ETIMEDOUT' });

/**
 * What stands in the hosts file comes first. Then the name servers are asked, and a name that hangs there has had its
 * chance. One that they do not know may be known to the system all the same: in a cluster, or by a search list.
 */
export function createLookup(options: NameOptions = {}): LookupFunction {
  const { servers, hostsFile = '/etc/hosts', system = systemLookup } = options;
  const { tryMs = TRY_MS, totalMs = LIMITS.callbackLookupTimeoutMs } = options;
  const underWay = new Map<string, Promise<LookupAddress[]>>();
  // The system needs a thread for each name, and a process has two for this. Names that a merchant can make slow share
  // one of them, so that the other is there for the names of the operator.
  const askForLocal = oneAtATime(system, totalMs);
  const askForUnknown = oneAtATime(system, totalMs);

  async function find(name: string): Promise<LookupAddress[]> {
    const bare = name.replace(/\.$/, '').toLowerCase();
    const listed = addressesIn(hostsFile, bare);
    if (listed.length > 0) return listed;
    if (LOCAL_NAME.test(bare)) return askForLocal(name);
    const known = await askServers(name);
    return known.length > 0 ? known : askForUnknown(name);
  }

  /** Asks with a resolver of its own, which reads anew who is to be asked. */
  async function askServers(name: string): Promise<LookupAddress[]> {
    const resolver = new Resolver({ timeout: tryMs, maxTimeout: totalMs });
    if (servers) resolver.setServers(servers);
    const stopAfter = (ms: number) => setTimeout(() => resolver.cancel(), ms);
    const timers = [stopAfter(totalMs)];
    const questions = [resolver.resolve4(name), resolver.resolve6(name)].map(async (question) => {
      const found = await question;
      timers.push(stopAfter(GRACE_MS));
      return found;
    });
    const answers = await Promise.allSettled(questions);
    timers.forEach(clearTimeout);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const isLate = answers.some((answer) => answer.status === 'rejected' && LATE_CODES.has(answer.reason.code));
    if (found.length === 0 && isLate) throw late();
    return found.map(withFamily);
  }

  return (name, _options, callback) => {
    // Whoever asks meanwhile for the same name gets the same answer, and judges it for the connection it makes.
    const found = underWay.get(name) ?? find(name).finally(() => underWay.delete(name));
    underWay.set(name, found);
    found.then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  };
}

/** Asks the system for one name, and for the next when it has answered; who waits in vain is told so. */
function oneAtATime(system: LookupFunction, totalMs: number): (name: string) => Promise<LookupAddress[]> {
  const waiting = new Set<() => void>();
  let isAsking = false;

  return (name) => {
    const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
    const ask = (): void => {
      waiting.delete(ask);
      isAsking = true;
      system(name, { all: true }, (error, found) => {
        isAsking = false;
        const [next] = waiting;
        next?.();
        if (error) reject(error);
        else resolve(Array.isArray(found) ? found : []);
      });
    };
    const timer = setTimeout(() => {
      waiting.delete(ask);
      reject(late());
    }, totalMs);
    waiting.add(ask);
    if (!isAsking) ask();
    return promise.finally(() => clearTimeout(timer));
  };
}

const LATE_CODES = new Set(['ECANCELLED', 'ETIMEOUT']);

const withFamily = (address: string): LookupAddress => ({ address, family: isIP(address) });

/** The addresses that a hosts file gives to a name; a machine without such a file lists nothing. */
function addressesIn(file: string, name: string): LookupAddress[] {
  let lines: string[] = [];
  try {
    lines = readFileSync(file, 'utf8').toLowerCase().split('\n');
  } catch {}
  return lines.flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return isIP(address) && names.includes(name) ? withFamily(address) : [];
  });
}
