/** Resolves host names without blocking threads, so that a name server that hangs delays no other name. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP, type LookupFunction } from 'node:net';
import { LIMITS } from '../rules/limits.ts';

export interface LookupOptions {
  /** The name servers; by default those of the system. */
  servers?: readonly string[];
  hostsFile?: string;
  system?: LookupFunction;
  /** After this time the next server is queried. */
  serverTimeoutMs?: number;
  totalMs?: number;
}

/** Node checks for timeouts once per interval, so a query may last twice as long; two of them leave time for a third. */
const SERVER_TIMEOUT_MS = LIMITS.callbackLookupTimeoutMs / 5;

/** How much longer to wait for the addresses of one family when those of the other are known. */
const OTHER_FAMILY_MS = 100;

/** A name that is known to this machine or its network only. */
const LOCAL_NAME = /^[^.]+$|\.localhost$/;

const timeoutError = (): NodeJS.ErrnoException =>
  Object.assign(new Error('The name servers did not answer in time.'), { code: 'ETIMEDOUT' });

/**
 * Looks into the hosts file first, then queries the name servers. A name that they do not know is passed to the system's
 * resolver, which may know it in a cluster or by a search list; a name for which they do not answer in time is not.
 */
export function createLookup(options: LookupOptions = {}): LookupFunction {
  const { servers, hostsFile = '/etc/hosts', system = systemLookup } = options;
  const { serverTimeoutMs = SERVER_TIMEOUT_MS, totalMs = LIMITS.callbackLookupTimeoutMs } = options;
  const inFlight = new Map<string, Promise<LookupAddress[]>>();
  // The system's resolver blocks a thread per name, and libuv uses two threads for it at most. Names that a merchant can
  // make slow use one of them, so that the other one stays free for the operator's names.
  const resolveLocal = oneAtATime(system, totalMs);
  const resolveUnknown = oneAtATime(system, totalMs);

  async function resolve(name: string): Promise<LookupAddress[]> {
    const bare = name.replace(/\.$/, '').toLowerCase();
    const listed = addressesIn(hostsFile, bare);
    if (listed.length > 0) return listed;
    if (LOCAL_NAME.test(bare)) return resolveLocal(name);
    const known = await queryServers(name);
    return known.length > 0 ? known : resolveUnknown(name);
  }

  /** A new resolver for each name reads the system's list of name servers again. */
  async function queryServers(name: string): Promise<LookupAddress[]> {
    const resolver = new Resolver({ timeout: serverTimeoutMs, maxTimeout: totalMs });
    if (servers) resolver.setServers(servers);
    const stopAfter = (ms: number) => setTimeout(() => resolver.cancel(), ms);
    const timers = [stopAfter(totalMs)];
    const queries = [resolver.resolve4(name), resolver.resolve6(name)].map(async (query) => {
      const found = await query;
      timers.push(stopAfter(OTHER_FAMILY_MS));
      return found;
    });
    const answers = await Promise.allSettled(queries);
    timers.forEach(clearTimeout);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const isTimeout = answers.some((answer) => answer.status === 'rejected' && TIMEOUT_CODES.has(answer.reason.code));
    if (found.length === 0 && isTimeout) throw timeoutError();
    return found.map(withFamily);
  }

  return (name, _options, callback) => {
    // Concurrent lookups of one name share an answer; each caller checks the addresses for its own connection.
    const found = inFlight.get(name) ?? resolve(name).finally(() => inFlight.delete(name));
    inFlight.set(name, found);
    found.then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  };
}

/** Calls the system's resolver for one name at a time; a name that is not resolved in time fails with a timeout. */
function oneAtATime(system: LookupFunction, totalMs: number): (name: string) => Promise<LookupAddress[]> {
  const waiting = new Set<() => void>();
  let isResolving = false;

  return (name) => {
    const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
    const start = (): void => {
      waiting.delete(start);
      isResolving = true;
      system(name, { all: true }, (error, found) => {
        isResolving = false;
        const [next] = waiting;
        next?.();
        if (error) reject(error);
        else resolve(Array.isArray(found) ? found : []);
      });
    };
    const timer = setTimeout(() => {
      waiting.delete(start);
      reject(timeoutError());
    }, totalMs);
    waiting.add(start);
    if (!isResolving) start();
    return promise.finally(() => clearTimeout(timer));
  };
}

const TIMEOUT_CODES = new Set(['ECANCELLED', 'ETIMEOUT']);

const withFamily = (address: string): LookupAddress => ({ address, family: isIP(address) });

/** The addresses of a name in a hosts file; none if there is no such file. */
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
