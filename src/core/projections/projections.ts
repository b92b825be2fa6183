/** Keeps all projections up to date with the logs: one portion of each in turn, each at its own pace. */
import { setTimeout as pause } from 'node:timers/promises';
import { LIMITS } from '../../rules/limits.ts';
import { PROJECTIONS } from '../../store/projections/all.ts';
import type { Projection } from '../../store/projections/projection.ts';
import type { ProjectionStatus } from '../../store/projections/projections.ts';
import type { Gateway } from '../context.ts';

type ProjectingGateway = Pick<Gateway, 'log' | 'metrics' | 'projections'>;

/** When the rows of each projection are folded next, in this process, and when its progress was logged. */
interface Pace {
  dueAt: number;
  loggedAt: number;
}

const paces = new WeakMap<ProjectingGateway, Map<string, Pace>>();

function paceOf(gateway: ProjectingGateway, { name }: Projection): Pace {
  const byName = paces.get(gateway) ?? new Map<string, Pace>();
  paces.set(gateway, byName);
  const pace = byName.get(name) ?? { dueAt: Number.NEGATIVE_INFINITY, loggedAt: Number.NEGATIVE_INFINITY };
  byName.set(name, pace);
  return pace;
}

const NEVER = (): boolean => false;

/** Folds what waits into the projections whose turn it is. */
export async function foldDueProjections(
  gateway: ProjectingGateway,
  isStopped: () => boolean = NEVER,
  projections: readonly Projection[] = PROJECTIONS,
): Promise<void> {
  const now = performance.now();
  const due = projections.filter((projection) => paceOf(gateway, projection).dueAt <= now);
  for (const projection of due) paceOf(gateway, projection).dueAt = now + projection.everyMs;
  await foldProjections(gateway, isStopped, due);
}

/**
 * Folds everything that waits, in rounds of one portion of each projection; several processes take turns. A projection
 * that fails does not stop the others, and is tried again after a while.
 */
export async function foldProjections(
  gateway: ProjectingGateway,
  isStopped: () => boolean = NEVER,
  projections: readonly Projection[] = PROJECTIONS,
): Promise<void> {
  let left = projections;
  while (left.length > 0 && !isStopped()) {
    const settled = await gateway.projections.settled();
    if (!settled) return;
    const unfinished: Projection[] = [];
    for (const projection of left) {
      try {
        const { hasMore, isBuilt } = await gateway.projections.fold(projection, settled);
        if (hasMore) unfinished.push(projection);
        if (isBuilt) gateway.log.info({ projection: projection.name }, 'projection built');
      } catch (error) {
        gateway.metrics.projectionFailed(projection.name);
        gateway.log.warn({ err: error, projection: projection.name }, 'projection failed');
        paceOf(gateway, projection).dueAt = performance.now() + LIMITS.projectionRetryMs;
      }
    }
    left = unfinished;
    if (left.length > 0) {
      await logProgress(gateway, left);
      await pause(LIMITS.projectionPauseMs);
    }
  }
}

/** Says now and then how far the backfills are. */
async function logProgress(gateway: ProjectingGateway, projections: readonly Projection[]): Promise<void> {
  const now = performance.now();
  const due = projections.filter((each) => now - paceOf(gateway, each).loggedAt >= LIMITS.projectionProgressMs);
  if (due.length === 0) return;
  for (const projection of due) paceOf(gateway, projection).loggedAt = now;
  for (const { name, backfilled } of await gateway.projections.statuses(due)) {
    if (backfilled === null) continue;
    gateway.log.info({ projection: name, percent: Math.floor(backfilled * 100) }, 'projection is being built');
  }
}

/** How far the projections are. */
export const listProjections = ({ projections }: Pick<Gateway, 'projections'>): Promise<ProjectionStatus[]> =>
  projections.statuses(PROJECTIONS);

/**
 * Empties a projection, so that the work loops build it again; undefined if there is none with this name, false while it
 * is built for the first time.
 */
export async function rebuildProjection(
  { projections }: Pick<Gateway, 'projections'>,
  name: string,
): Promise<boolean | undefined> {
  const projection = PROJECTIONS.find((each) => each.name === name);
  return projection && projections.rebuild(projection);
}
