// Runs one target under fast-check: first the inputs that have broken a parser before, then new ones. fast-check draws
// the inputs, keeps to the time, and shrinks a failing input.
import { isObject } from '@crossbill/mor/read.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Broken, type Target } from './target.js';

/**
 * The limit of processor time for one input, far above any need. A slow input gets a second try, since a garbage
 * collection may have slowed the first try.
 */
const MOST_MS = 1_500;
/** The limit of elapsed time for one input, for targets that wait for a daemon. */
const MOST_WAIT_MS = 60_000;
/** More inputs than any turn has time for. */
const ENDLESS = 1_000_000_000;
/** The value for `"@deep"` in a kept input. */
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

export type Turn = {
  readonly seed: number;
  /** The number of new inputs. Left out: as many as the time allows. */
  readonly runs?: number;
  /** The time of the turn in milliseconds. Left out: no limit. */
  readonly ms?: number;
  /** The place of one input among those of the seed, as fast-check names it: only this input runs. */
  readonly path?: string;
  /** Called with each input before its try. The watchdog then can name an input that hangs. */
  readonly watch?: (target: string, input: string) => void;
};

/** `path`: the place of the smallest failing input. Null: the state was wrong after all inputs. */
export type Failure = { readonly why: string; readonly input: string; readonly path: string | null };
export type Outcome = { readonly tried: number; readonly failure: Failure | null };

/** Tries inputs on the target. The same seed draws the same inputs. */
export async function runTurn(target: Target, { seed, runs, ms, path, watch }: Turn): Promise<Outcome> {
  const examples = keptInputs(target.name).map((input): [string] => [input]);
  const plugins = [
    ...(ms === undefined ? [] : [fc.interruptAfterTimeLimit(ms)]),
    ...(target.remote === true ? [fc.timeout(MOST_WAIT_MS)] : []),
  ];
  let tried = 0;
  await target.prepare?.();
  const property = fc.asyncProperty(target.inputs, async (input) => {
    tried++;
    watch?.(target.name, input);
    await tryOne(target, input);
  });
  const numRuns = examples.length + (runs ?? ENDLESS);
  const found = await fc.check(property, {
    seed,
    examples,
    numRuns,
    plugins,
    ...(path === undefined ? {} : { path }),
  });
  const failing = found.counterexample as [string] | null; // the plugins' type hides it
  if (failing !== null) {
    const [input] = failing;
    return { tried, failure: { why: wordsOf(found.errorInstance), input, path: found.counterexamplePath } };
  }
  try {
    await target.afterBatch?.();
    return { tried, failure: null };
  } catch (error) {
    return { tried, failure: { why: wordsOf(error), input: '', path: null } };
  }
}

async function tryOne(target: Target, input: string): Promise<void> {
  if ((await spentOn(target, input)) <= MOST_MS || target.remote === true) return;
  const again = await spentOn(target, input);
  if (again > MOST_MS) throw new Broken(`took ${Math.round(again)} ms of processor time`);
}

async function spentOn(target: Target, input: string): Promise<number> {
  const before = process.cpuUsage();
  await target.check(input);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function wordsOf(error: unknown): string {
  if (error instanceof Broken || !(error instanceof Error)) return String(error);
  return (error.stack ?? error.message).split('\n').slice(0, 6).join('\n');
}

export type Kept = { readonly target: string; readonly input: string; readonly why: string };

/** All kept inputs. `npm run fuzz` and the tests both run in the project's folder. */
export const KEPT: readonly Kept[] = parseKept(readFileSync(join(process.cwd(), 'packages/proof/test/corpus.json')));

function keptInputs(name: string): readonly string[] {
  return KEPT.flatMap(({ target, input }) => (target === name ? [input.replace('"@deep"', DEEP)] : []));
}

function parseKept(file: Buffer): readonly Kept[] {
  const cases: unknown = JSON.parse(file.toString('utf8'));
  if (!Array.isArray(cases)) throw new Error('packages/proof/test/corpus.json must be a list');
  return cases.map((one: unknown) => {
    const { target, input, why } = isObject(one) ? one : {};
    if (typeof target !== 'string' || typeof input !== 'string' || typeof why !== 'string')
      throw new Error('a case of packages/proof/test/corpus.json has a target, an input and a why');
    return { target, input, why };
  });
}
