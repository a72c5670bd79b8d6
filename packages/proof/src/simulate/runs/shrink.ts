// Shrinks a failing run: finds few faults and few parts of its story that still break the same rule.
import { type GivenFault } from '../machine/faults.js';

/** The faults of a run, and the numbers of the story's parts to leave out. */
export type Recipe = {
  readonly faults: readonly GivenFault[];
  readonly without: readonly number[];
};

/** The part of a run's result needed to shrink the run. */
export type Outcome = { readonly broken: readonly string[]; readonly injected: readonly GivenFault[] };

/**
 * Returns the name of a broken rule: the text before the first colon, such as `G11`. Without a colon, the whole
 * sentence.
 */
export function ruleOf(broken: string): string {
  return broken.split(':', 1)[0] ?? broken;
}

/**
 * Returns a short list that still fails: leaves out halves, then quarters and so on, down to single items. `fails` only
 * ever receives parts of `all`, never all of it.
 */
export async function smallest<T>(
  all: readonly T[],
  fails: (some: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let left = all;
  for (let size = Math.ceil(left.length / 2); size >= 1 && left.length > 0;) {
    let smaller = false;
    for (let at = 0; at < left.length;) {
      const some = left.filter((_, n) => n < at || n >= at + size);
      if (await fails(some)) {
        left = some;
        smaller = true;
      } else at += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (!smaller) break;
  }
  return left;
}

/**
 * Shrinks a run with a broken rule. Parts of the story go first: with them go most of the steps and faults.
 * @param parts number of the story's parts
 * @param act runs a recipe
 * @param tell receives each smaller recipe
 */
export async function shrink(
  first: Outcome,
  parts: number,
  act: (recipe: Recipe) => Promise<Outcome>,
  tell: (recipe: Recipe) => void,
): Promise<{ readonly rule: string; readonly recipe: Recipe }> {
  const rule = ruleOf(first.broken[0] ?? '');
  let best: Recipe = { faults: first.injected, without: [] };
  const breaks = async (recipe: Recipe): Promise<boolean> => {
    const { broken, injected } = await act(recipe);
    if (!broken.some((b) => ruleOf(b) === rule)) return false;
    // Drop the faults of the recipe that never occurred in the run.
    best = { ...recipe, faults: injected };
    tell(best);
    return true;
  };
  const numbers = Array.from({ length: parts }, (_, n) => n);
  for (let before = -1; before !== sizeOf(best);) {
    before = sizeOf(best);
    const kept = numbers.filter((n) => !best.without.includes(n));
    await smallest(kept, (some) => breaks({ faults: best.faults, without: numbers.filter((n) => !some.includes(n)) }));
    await smallest(best.faults, (some) => breaks({ faults: some, without: best.without }));
  }
  return { rule, recipe: best };
}

const sizeOf = ({ faults, without }: Recipe): number => faults.length - without.length;
