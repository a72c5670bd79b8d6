// Runs one target on many inputs, each with a time limit. In the end it reports the smallest failing input.
import fc from 'fast-check';
import { Broken, type Target } from './target.js';

/**
 * The limit of processor time for one input, far above any need. A slow input gets a second try, since a garbage
 * collection may have slowed the first try.
 */
const MOST_MS = 1_500;
/** The limit of elapsed time for one input, for targets that wait for a daemon. */
const MOST_WAIT_MS = 60_000;

export type Failure = { readonly input: string; readonly why: string; readonly shrinks: number };
export type Batch = {
  readonly seed: number;
  readonly runs: number;
  readonly tried: number;
  readonly failure: Failure | null;
};

/** Called with each input before its try. The watchdog then can name an input that hangs. */
export type Watch = (target: string, input: string) => void;

/** Tries one input. Throws if the input breaks a rule. */
export async function tryOne(target: Target, input: string, watch: Watch = () => undefined): Promise<void> {
  watch(target.name, input);
  const spent = await timed(target, input);
  if (spent > MOST_MS && !target.remote) {
    const again = await timed(target, input);
    if (again > MOST_MS) throw new Broken(`took ${Math.round(again)} ms of processor time`);
  }
}

async function timed(target: Target, input: string): Promise<number> {
  const before = process.cpuUsage();
  const done = target.check(input);
  if (done instanceof Promise) await (target.remote === true ? within(done) : done);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function within(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Broken(`no answer within ${MOST_WAIT_MS / 1000} s`)), MOST_WAIT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Tries `runs` inputs. The same `seed` and `runs` draw the same inputs. */
export async function runBatch(target: Target, seed: number, runs: number, watch?: Watch): Promise<Batch> {
  let tried = 0;
  await target.prepare?.();
  const property = fc.asyncProperty(target.inputs, async (input) => {
    tried++;
    await tryOne(target, input, watch);
  });
  const found = await fc.check(property, { seed, numRuns: runs });
  const input = found.counterexample?.[0];
  if (found.failed && input !== undefined) {
    const { errorInstance: error, numShrinks: shrinks } = found;
    return { seed, runs, tried, failure: { input, why: wordsOf(error), shrinks } };
  }
  try {
    await target.afterBatch?.();
  } catch (error) {
    return { seed, runs, tried, failure: { input: '', why: wordsOf(error), shrinks: 0 } };
  }
  return { seed, runs, tried, failure: null };
}

export function wordsOf(error: unknown): string {
  if (error instanceof Broken) return error.message;
  if (!(error instanceof Error)) return String(error);
  return (error.stack ?? error.message).split('\n').slice(0, 6).join('\n');
}
