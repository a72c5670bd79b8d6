// `npm run simulate`: runs many worlds, each from a seed and with its own faults. After each run it checks the rules.
import { Crew } from './runs/crew.js';
import { openSimDatabases } from './machine/database.js';
import { faultsOf } from './runs/exhaustive.js';
import { type Options, readOptions, usage } from './options.js';
import { differences, ORDERS, type OrderRun } from './runs/permutations.js';
import { reporter } from './report.js';
import { goldenStories } from './stories/golden.js';
import { keepCase } from './runs/kept.js';
import { type Outcome, type Recipe, shrink } from './runs/shrink.js';
import { seedCommand, type Task, type TaskResult } from './runs/task.js';

const TWICE_EVERY = 100; // every 100th seed runs twice: both runs must end alike

const write = (text: string): void => void process.stdout.write(text);

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
    write(`${usage}\n`);
    return 0;
  }
  const databases = await openSimDatabases(process.env['DATABASE_URL'] ?? null, options.jobs);
  try {
    const crew = await Crew.open(databases.urls, (line) => write(`${line}\n`));
    try {
      return (await runMode(options, crew)) > 0 ? 1 : 0;
    } finally {
      crew.close();
    }
  } finally {
    await databases.close();
  }
}

/** Returns the number of failed runs. */
function runMode(options: Options, crew: Crew): Promise<number> {
  switch (options.mode) {
    case 'exhaustive':
      return exhaustive(options, crew);
    case 'permutations':
      return permutations(options, crew);
    case 'shrink':
      return shrunk(options, crew);
    default:
      return reported(tasksOf(options), options.trace, crew);
  }
}

function storiesOf({ story }: Options): readonly string[] {
  const all = goldenStories.map((s) => s.name);
  if (story !== null && all.includes(story)) return [story]; // only the story with this exact name
  const names = all.filter((name) => story === null || name.includes(story));
  if (names.length === 0) throw new Error(`no story is named ${story ?? ''}`);
  return names;
}

function tasksOf(options: Options): Task[] {
  const { from, seeds, trace, mode } = options;
  const numbers = Array.from({ length: seeds }, (_, n) => from + n);
  if (mode === 'pairs') {
    const stories = storiesOf(options);
    return numbers.map((seed) => ({ do: 'pair', seed, story: stories[seed % stories.length] ?? '', trace }));
  }
  if (mode === 'story') {
    return storiesOf(options).map((story) => ({ do: 'story', story, faults: options.faults ?? [], trace }));
  }
  if (mode === 'soak') {
    const { customers, months } = options;
    return Array.from({ length: options.jobs }, (_, n) => ({ do: 'soak', seed: from + n, customers, months, trace }));
  }
  const { faults, without } = options;
  const recipe = faults === null ? null : { faults, without };
  return numbers.map((seed, n) => ({ do: 'seed', seed, twice: n % TWICE_EVERY === TWICE_EVERY - 1, recipe, trace }));
}

/** Reduces a failing seed to its few essential faults. Returns 1 if the seed fails, like a normal run. */
async function shrunk(options: Options, crew: Crew): Promise<number> {
  const { from: seed, keep } = options;
  const run = async (recipe: Recipe | null): Promise<TaskResult> => {
    const results: TaskResult[] = [];
    await crew.run([{ do: 'seed', seed, twice: false, recipe, trace: false }], (result) => void results.push(result));
    const [result] = results;
    if (result === undefined) throw new Error(`seed ${seed} gave no result`);
    return result;
  };
  const outcomeOf = ({ broken, injected }: TaskResult): Outcome => ({
    broken,
    injected: injected.map(({ at, fault }) => [at, fault] as const),
  });
  const first = await run(null);
  if (first.broken.length === 0) {
    write(`seed ${seed} breaks no rule: there is nothing to make smaller\n`);
    return 0;
  }
  const found = await shrink(
    outcomeOf(first),
    first.parts.length,
    async (recipe) => outcomeOf(await run(recipe)),
    ({ faults, without }) => write(`${faults.length} faults, ${first.parts.length - without.length} parts\n`),
  );
  const { broken } = await run(found.recipe);
  const left = first.parts.filter((_, n) => !found.recipe.without.includes(n));
  write(`\nseed ${seed}, smallest: ${broken.join('\n  ')}\n  parts: ${left.join(', ') || 'none'}\n`);
  write(`  replay with: ${seedCommand(seed, found.recipe)}\n`);
  if (keep !== null) write(`  kept in ${keepCase({ seed, why: keep, ...found.recipe })}\n`);
  return 1;
}

async function reported(tasks: readonly Task[], trace: boolean, crew: Crew): Promise<number> {
  const report = reporter(tasks.length, write, trace);
  await crew.run(tasks, (result) => report.ran(result));
  return report.done().failed;
}

async function exhaustive(options: Options, crew: Crew): Promise<number> {
  const stories = storiesOf(options);
  const golden: TaskResult[] = [];
  const plain = stories.map((story): Task => ({ do: 'story', story, faults: [], trace: false }));
  await crew.run(plain, (result) => void golden.push(result));
  const tasks = golden
    .toSorted((a, b) => stories.indexOf(a.story) - stories.indexOf(b.story))
    .flatMap(({ story, points }): Task[] =>
      faultsOf(points).map(({ at, fault }) => ({ do: 'story', story, faults: [[at, fault]], trace: options.trace })),
    );
  const wanted = tasks.filter((_, n) => n % options.every === (options.from - 1) % options.every);
  write(`${stories.length} stories, ${tasks.length} single faults, ${wanted.length} runs\n`);
  const report = reporter(golden.length + wanted.length, write, options.trace);
  for (const result of golden) report.ran(result);
  await crew.run(wanted, (result) => report.ran(result));
  return report.done().failed;
}

async function permutations(options: Options, crew: Crew): Promise<number> {
  const orders = ORDERS.map((_, order) => order).filter((n) => options.order === null || n === options.order);
  const report = reporter(orders.length, write, options.trace);
  const ran: OrderRun[] = [];
  const tasks = orders.map((order): Task => ({ do: 'order', order, trace: options.trace }));
  await crew.run(tasks, (result) => {
    report.ran(result);
    ran.push(result);
  });
  const { failed } = report.done();
  const found = differences(ran);
  for (const text of found) write(`${text}\n\n`);
  write(found.length === 0 ? 'every order ends in the same state\n' : `${found.length} orders end otherwise\n`);
  return failed + found.length;
}

process.exitCode = await main(process.argv.slice(2));
