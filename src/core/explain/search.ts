/** Searches the mistake that explains a hash: every variation alone, then every pair of variations of different steps. */
import { timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { LIMITS } from '../../rules/limits.ts';
import { type Recipe, textReader, type Variation } from './recipe.ts';

/** A recipe that the gateway accepts, and what is to be said about it. */
export interface AcceptedRecipe {
  recipe: Recipe;
  notes: readonly Variation[];
}

/** After this many candidates, or this total length of their texts, other requests get their turn. */
const CANDIDATES_PER_TICK = 200;
const LENGTH_PER_TICK = 256 * 1024;

/** Returns the variations with which the digest was made, none for an accepted recipe, undefined if it is not found. */
export async function findVariations(
  claimed: Buffer,
  accepted: readonly AcceptedRecipe[],
  steps: readonly (readonly Variation[])[],
  value: (name: string) => string,
): Promise<readonly Variation[] | undefined> {
  const textOf = textReader(value);
  let lengthLeft: number = LIMITS.explainedLength;
  const isMatch = (recipe: Recipe, text: string): boolean => {
    lengthLeft -= text.length;
    const digest = recipe.digest(text);
    return digest.length === claimed.length && timingSafeEqual(digest, claimed);
  };
  let candidates = 0;
  let lengthAtTick = lengthLeft;
  const isTickOver = (): boolean => ++candidates >= CANDIDATES_PER_TICK || lengthAtTick - lengthLeft > LENGTH_PER_TICK;
  const nextTick = async (): Promise<void> => {
    candidates = 0;
    lengthAtTick = lengthLeft;
    await setImmediate();
  };

  const bases = accepted.map((each) => ({ ...each, text: textOf(each.recipe) }));
  for (const { recipe, notes, text } of bases) if (isMatch(recipe, text)) return notes;

  const possible = steps.map((step) => step.filter(({ changes }) => fitsLength(changes, claimed.length)));
  const rounds: { base: (typeof bases)[number]; effective: Variation[][] }[] = [];
  for (const base of bases) {
    const effective: Variation[][] = [];
    for (const step of possible) {
      const kept: Variation[] = [];
      for (const variation of step) {
        if (lengthLeft < 0) return undefined;
        if (isTickOver()) await nextTick();
        const changed = { ...base.recipe, ...variation.changes };
        const text = textOf(changed);
        if (text === base.text && !variation.changes.digest) continue;
        if (isMatch(changed, text)) return [...base.notes, variation];
        if (!variation.isRare) kept.push(variation);
      }
      effective.push(kept);
    }
    rounds.push({ base, effective });
  }
  for (const { base, effective } of rounds) {
    for (const [first, second] of pairsOf(effective)) {
      if (lengthLeft < 0) return undefined;
      if (isTickOver()) await nextTick();
      const changed = { ...base.recipe, ...first.changes, ...second.changes };
      if (isMatch(changed, textOf(changed))) return [...base.notes, first, second];
    }
  }
  return undefined;
}

/** Whether a changed digest has the length of the claimed one. */
const fitsLength = ({ digest }: Partial<Recipe>, length: number): boolean => !digest || digest('').length === length;

function* pairsOf(steps: readonly (readonly Variation[])[]): Generator<[Variation, Variation]> {
  for (const [at, step] of steps.entries()) {
    for (const other of steps.slice(at + 1)) {
      for (const first of step) for (const second of other) yield [first, second];
    }
  }
}
