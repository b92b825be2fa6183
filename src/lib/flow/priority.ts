/** The priority of work that may wait while a machine is busy. */
import { constants, setPriority } from 'node:os';

/** Lets a process of this machine yield to others; 0 is the thread that calls this. Linux gives threads a priority of their own. */
export function yieldToOthers(id = 0): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(id, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process belongs to another user, or has ended.
  }
}
