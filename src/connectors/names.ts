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
  totalMs?: number;
}

/** A question or an answer that got lost is not waited for any longer than this. */
const TRY_MS = 1000;

/** A name that only this machine, or the network that it is in, can know. */
const LOCAL_NAME = /^[^.]+$|\.localhost$/;

const late = (): NodeJS.ErrnoException =>
  Object.assign(new Error('The name servers did not answer in time.'), { code: 'ETIMEDOUT' });

/**
 * What stands in the hosts file comes first. Then the name servers are asked, and a name that hangs there has had its
 * chance. One that they do not know may be known to the system all the same: in a cluster, or by a search list.
 */
export function createLookup(options: NameOptions = {}): LookupFunction {
  const { servers, hostsFile = '/etc/hosts', system = systemLookup, totalMs = LIMITS.callbackLookupMs } = options;
  const underWay = new Map<string, Promise<LookupAddress[]>>();
  const waiting = new Set<() => void>();
  let isAsking = false;

  async function find(name: string): Promise<LookupAddress[]> {
    const bare = name.replace(/\.$/, '').toLowerCase();
    const listed = addressesIn(hostsFile, bare);
    if (listed.length > 0) return listed;
    const known = LOCAL_NAME.test(bare) ? [] : await askServers(name);
    return known.length > 0 ? known : askSystem(name);
  }

  /** Asks with a resolver of its own, which reads anew who is to be asked. */
  async function askServers(name: string): Promise<LookupAddress[]> {
    const resolver = new Resolver({ timeout: TRY_MS });
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), totalMs);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    clearTimeout(timer);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const isLate = answers.some((answer) => answer.status === 'rejected' && LATE_CODES.has(answer.reason.code));
    if (found.length === 0 && isLate) throw late();
    return found.map(withFamily);
  }

  /** The system needs a thread for each name, and a process has two for this; one stays free for the operator's names. */
  function askSystem(name: string): Promise<LookupAddress[]> {
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
