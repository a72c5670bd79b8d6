// `npm run simulate`: many worlds, each from a seed, each with its faults, and the rules checked after each.
import { openSimDatabase } from './database.js';
import { runSingleFault, singleFaults } from './exhaustive.js';
import { type Options, readOptions, usage } from './options.js';
import { runPermutations } from './permutations.js';
import { type Reporter, reporter } from './report.js';
import { type RunResult, seededRun } from './run.js';
import { type SimStore } from './sim-store.js';
import { goldenStories } from './stories.js';

const VACUUM_EVERY = 50;
const TWICE_EVERY = 100; // RELIABILITY 4.1: one run in 100 is run twice

const write = (text: string): void => void process.stdout.write(text);

/** Gives the exit code. */
async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong arguments'}\n\n${usage}\n`);
    return 2;
  }
  if (options.mode === 'help') {
    write(`${usage}\n`);
    return 0;
  }
  const database = await openSimDatabase(process.env['DATABASE_URL'] ?? null);
  try {
    if (options.mode === 'exhaustive') return await exhaustive(options, database.store);
    if (options.mode === 'permutations') return await runPermutations(database.store, write);
    return await seeds(options, database.store);
  } finally {
    await database.close();
  }
}

async function seeds({ seeds: count, from, trace }: Options, store: SimStore): Promise<number> {
  const report = reporter(count, write, trace);
  for (let n = 0; n < count; n++) {
    const seed = from + n;
    let result = await seededRun(seed, store, trace);
    if (n % TWICE_EVERY === TWICE_EVERY - 1 || result.broken.length > 0) result = await again(result, seed, store);
    report.ran(result, `npm run simulate -- --seeds 1 --from ${seed} --trace`);
    if (n % VACUUM_EVERY === VACUUM_EVERY - 1) await store.vacuum();
  }
  return report.done().failed > 0 ? 1 : 0;
}

/** The same seed once more: another story means that something here is not owned by the seed. */
async function again(first: RunResult, seed: number, store: SimStore): Promise<RunResult> {
  const second = await seededRun(seed, store, false);
  if (second.digest === first.digest) return first;
  const differs = `the same seed took another way: trace ${first.digest}, then ${second.digest}`;
  return { ...first, broken: [...first.broken, differs] };
}

async function exhaustive(options: Options, store: SimStore): Promise<number> {
  const stories = goldenStories.filter((s) => options.story === null || s.name.includes(options.story));
  let failed = 0;
  for (const story of stories) {
    const { golden, faults } = await singleFaults(story, store);
    const wanted = faults.filter(
      (f, n) =>
        (options.at === null || f.at === options.at) &&
        (options.fault === null || f.fault === options.fault) &&
        n % options.every === 0,
    );
    write(`${story.name}: ${golden.points.length} steps can fail, ${wanted.length} runs\n`);
    const report: Reporter = reporter(wanted.length + 1, write, options.trace && options.at !== null);
    report.ran(golden, `npm run simulate -- --exhaustive --story '${story.name}' --at 0 --fault none --trace`);
    for (const [n, fault] of wanted.entries()) {
      const result = await runSingleFault(fault, store, options.trace);
      const replay = `npm run simulate -- --exhaustive --story '${story.name}' --at ${fault.at} --fault ${fault.fault} --trace`;
      report.ran(result, replay);
      if (n % VACUUM_EVERY === VACUUM_EVERY - 1) await store.vacuum();
    }
    failed += report.done().failed;
  }
  return failed > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
