/** Folds everything that waits into one projection. */
import type { Projection } from '../src/store/projections/projection.ts';
import type { ProjectionStore } from '../src/store/projections/projections.ts';

/** `onPortion` is awaited after each portion. */
export async function foldAll(
  store: ProjectionStore,
  projection: Projection,
  onPortion: () => unknown = () => undefined,
): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    const settled = await store.settled();
    hasMore = !settled || (await store.fold(projection, settled)).hasMore;
    await onPortion();
  }
}
