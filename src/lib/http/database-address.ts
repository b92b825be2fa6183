/** Addresses of PostgreSQL that name several hosts, such as `postgres://turnpike@a:5432,b:5432/turnpike`. */

const SEVERAL_HOSTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*,[^@/?#]*)((?:[/?#].*)?)$/s;

/** The same address once for each of its hosts. */
export function singleHostAddresses(address: string): string[] {
  const [, start, hosts, rest] = SEVERAL_HOSTS.exec(address) ?? [];
  return hosts === undefined ? [address] : hosts.split(',').map((host) => `${start}${host}${rest}`);
}
