/** Key rotation: encrypts cards under new data keys, and all other secrets under the new master key. */
import { setTimeout as pause } from 'node:timers/promises';
import { StartupError } from '../../lib/flow/startup-error.ts';
import type { AgedCard, RotationStore, SealedValue } from '../../store/installation/rotation.ts';
import { newDataKey, resealCard } from '../cards/vault.ts';
import type { Gateway } from '../context.ts';

export type { RotationStore } from '../../store/installation/rotation.ts';

export interface Progress {
  part: 'cards' | 'secrets';
  done: number;
  total: number;
}

/** A running gateway may encrypt something under the old key between two passes, but not again and again. */
const MAX_PASSES = 10;
const PASS_PAUSE_MS = 500;

/**
 * Rotates all keys. Each page is one statement, and each row shows under which key it is encrypted, so an interrupted
 * rotation continues where it stopped. Gateways that have both master keys can read and write meanwhile.
 */
export async function rotateKeys(
  { seal }: Pick<Gateway, 'seal'>,
  rows: RotationStore,
  report: (progress: Progress) => void,
): Promise<Record<Progress['part'], number>> {
  // An account whose newest data key is under the new master key got it in an earlier, interrupted run.
  for (const { mid, version } of await rows.accountsOfOldKeys(seal.version)) {
    const { version: next, sealed } = newDataKey({ seal }, mid, version + 1);
    await rows.insertDataKey(mid, next, sealed);
  }
  const resealed = (card: AgedCard) => ({ ...card, resealed: resealCard({ seal }, card) });
  const reseal = async (count: (done: number) => void): Promise<void> => {
    for await (const page of rows.agedCards()) {
      await rows.resealCards(page.map(resealed));
      count(page.length);
    }
  };
  let cards = 0;
  do cards += await untilNoneIsLeft('cards', rows.countAgedCards, report, reseal);
  while (!(await rows.retireDataKeys()));
  const countSealed = () => rows.countSealed(seal.version);
  const secrets = await untilNoneIsLeft('secrets', countSealed, report, async (count) => {
    const renewed = (value: SealedValue) => ({
      ...value,
      renewed: seal.seal(seal.open(value.sealed, value.bound), value.bound),
    });
    for await (const { replace, values } of rows.sealed(seal.version)) {
      await replace(values.map(renewed));
      count(values.length);
    }
  });
  return { cards, secrets };
}

async function untilNoneIsLeft(
  part: Progress['part'],
  left: () => Promise<number>,
  report: (progress: Progress) => void,
  work: (count: (done: number) => void) => Promise<void>,
): Promise<number> {
  let done = 0;
  for (let passes = 0; passes < MAX_PASSES; passes++) {
    const total = done + (await left());
    const isDone = total === done;
    if (!isDone || passes === 0) report({ part, done, total });
    if (isDone) return done;
    if (passes > 0) await pause(PASS_PAUSE_MS);
    await work((more) => {
      done += more;
      report({ part, done, total: Math.max(done, total) });
    });
  }
  throw new StartupError(
    'Something is still sealed under the old key: start every gateway with the new key in front, and run this again.',
  );
}
