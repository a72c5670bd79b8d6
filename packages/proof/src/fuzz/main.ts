// `npm run fuzz` gives damaged inputs to every parser of outside data, round after round, until the time is up. A
// parser that breaks gets no further input.
import { corpus, tryCase } from './corpus.js';
import { openRig, type Rig } from './rig.js';
import { type Options, readOptions, usage } from './options.js';
import { type Batch, runBatch } from './runner.js';
import { type Target } from './target.js';
import { targets } from './targets.js';
import { remoteTargets } from './targets/remote.js';
import { startWatchdog } from './watchdog.js';

/** Each target has this long in each round. Then the next target has its turn. */
const TURN_MS = 8_000;
const FIRST_RUNS = 100;
const MOST_RUNS = 50_000;

const write = (text: string): void => void process.stdout.write(`${text}\n`);
const grouped = (count: number): string => count.toLocaleString('en-US');

/** Returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong arguments'}\n\n${usage}\n`);
    return 2;
  }
  if (options.mode === 'help') {
    write(usage);
    return 0;
  }
  const wanted = ({ name }: { readonly name: string }): boolean =>
    options.only.length === 0 || options.only.includes(name);
  const here = targets.filter(wanted);
  const there = remoteTargets.filter(wanted);
  if (options.mode === 'list') {
    for (const { name, what } of [...here, ...there]) write(`${name.padEnd(20)} ${what}`);
    return 0;
  }
  if (here.length + there.length === 0) {
    process.stderr.write(`no target is named ${options.only.join(' or ')}; --list names them\n`);
    return 2;
  }
  const rig = there.length === 0 ? null : await openRig(write);
  try {
    return await fuzz([...here, ...(rig === null ? [] : there.map(({ on }) => on(rig)))], options, rig);
  } finally {
    await rig?.close();
  }
}

type Sum = { tried: number; ms: number };

async function fuzz(all: readonly Target[], options: Options, rig: Rig | null): Promise<number> {
  const watch = startWatchdog();
  const sums = new Map<string, Sum>(all.map(({ name }) => [name, { tried: 0, ms: 0 }]));
  const failed: string[] = [];
  const startedAt = performance.now();
  const end = startedAt + options.minutes * 60_000;
  write(
    `seed ${options.seed}, ${all.length} targets, ${options.runs === null ? `${options.minutes} minutes` : `${options.runs} inputs each`}`,
  );

  for (const one of corpus()) {
    const target = all.find(({ name }) => name === one.target);
    const why = target === undefined ? null : await tryCase(target, one);
    if (why === null) continue;
    failed.push(one.target);
    write(`FAILED ${one.target}, of the corpus: ${why}\n  ${JSON.stringify(one.input).slice(0, 2_000)}`);
  }

  for (let round = 0; failed.length < all.length; round++) {
    for (const [n, target] of all.entries()) {
      const sum = sums.get(target.name);
      if (sum === undefined || failed.includes(target.name)) continue;
      if (options.runs === null && performance.now() > end) break;
      const rate = sum.ms === 0 ? 0 : sum.tried / sum.ms;
      const runs = options.runs ?? Math.max(FIRST_RUNS, Math.min(MOST_RUNS, Math.round(rate * TURN_MS)));
      const seed = (options.seed + round * all.length + (options.runs === null ? n : 0)) % 2 ** 31;
      const from = performance.now();
      const batch = await runBatch(target, seed, runs, watch);
      sum.tried += batch.tried;
      sum.ms += performance.now() - from;
      const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
      write(`${minutes.padStart(5)} min  ${target.name.padEnd(20)} ${grouped(sum.tried).padStart(12)} inputs`);
      if (batch.failure === null) continue;
      failed.push(target.name);
      tell(target, batch, rig);
    }
    if (options.runs !== null || performance.now() > end) break;
  }

  write('');
  for (const [name, { tried, ms }] of sums)
    write(`${name.padEnd(20)} ${grouped(tried).padStart(12)} inputs ${(ms / 60_000).toFixed(1).padStart(6)} min`);
  const tried = [...sums.values()].reduce((total, sum) => total + sum.tried, 0);
  const took = ((performance.now() - startedAt) / 60_000).toFixed(1);
  write(
    `${grouped(tried)} inputs in ${took} minutes, seed ${options.seed}: ${failed.length === 0 ? 'nothing broke' : `${failed.length} broke: ${failed.join(', ')}`}`,
  );
  return failed.length === 0 ? 0 : 1;
}

function tell({ name }: Target, { seed, runs, failure }: Batch, rig: Rig | null): void {
  if (failure === null) return;
  write(`FAILED ${name}: ${failure.why}`);
  write(`  smallest input, after ${failure.shrinks} steps: ${JSON.stringify(failure.input).slice(0, 4_000)}`);
  write(`  again: npm run fuzz -- --only ${name} --seed ${seed} --runs ${runs}`);
  for (const line of rig?.errors() ?? []) write(`  the daemon: ${line.slice(0, 1_500)}`);
}

process.exitCode = await main(process.argv.slice(2));
