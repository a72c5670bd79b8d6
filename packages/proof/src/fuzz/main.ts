// `npm run fuzz` gives damaged inputs to every parser of outside data, round after round, until the time is up. A
// parser that breaks gets no further input.
import { openRig, type Rig } from './rig.js';
import { type Options, readOptions, usage } from './options.js';
import { runTurn } from './runner.js';
import { type Target } from './target.js';
import { targets } from './targets.js';
import { remoteTargets } from './targets/remote.js';
import { startWatchdog } from './watchdog.js';

/** Each target has this long in each round. Then the next target has its turn. */
const TURN_MS = 8_000;

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

async function fuzz(all: readonly Target[], { seed, minutes, path }: Options, rig: Rig | null): Promise<number> {
  const watch = startWatchdog();
  const tried = new Map<string, number>(all.map(({ name }) => [name, 0]));
  const failed = new Set<string>();
  const end = performance.now() + minutes * 60_000;
  write(`seed ${seed}, ${all.length} targets, ${path === null ? `${minutes} minutes` : `input ${path}`}`);
  let ofTurn = seed;
  do {
    for (const target of all.filter(({ name }) => !failed.has(name))) {
      const { name } = target;
      if (path === null && performance.now() > end) break;
      const turn = path === null ? { ms: TURN_MS } : { path };
      const outcome = await runTurn(target, { seed: ofTurn, watch, ...turn });
      tried.set(name, (tried.get(name) ?? 0) + outcome.tried);
      write(`${name.padEnd(20)} ${grouped(tried.get(name) ?? 0).padStart(12)} inputs`);
      if (outcome.failure !== null) {
        failed.add(name);
        write(`FAILED ${name}: ${outcome.failure.why}`);
        write(`  smallest input: ${JSON.stringify(outcome.failure.input).slice(0, 4_000)}`);
        const { path: at } = outcome.failure;
        if (at !== null) write(`  again: npm run fuzz -- --only ${name} --seed ${ofTurn} --path ${at}`);
        for (const line of rig?.errors() ?? []) write(`  the daemon: ${line.slice(0, 1_500)}`);
      }
      ofTurn = (ofTurn + 1) % 2 ** 31;
    }
  } while (path === null && failed.size < all.length && performance.now() < end);

  const sum = [...tried.values()].reduce((total, count) => total + count, 0);
  const broke = failed.size === 0 ? 'nothing broke' : `${failed.size} broke: ${[...failed].join(', ')}`;
  write(`${grouped(sum)} inputs, seed ${seed}: ${broke}`);
  return failed.size === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
