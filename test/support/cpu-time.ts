/** The CPU time of a piece of work, which does not grow when other processes keep the machine busy. */

/** Milliseconds that this process has computed so far. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
