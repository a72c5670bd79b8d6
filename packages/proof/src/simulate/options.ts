// The command line of the simulation.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type FaultKind, isFaultKind } from './machine/faults.js';

type Mode = 'seeds' | 'exhaustive' | 'pairs' | 'permutations' | 'story' | 'soak' | 'shrink' | 'help';

export type Options = {
  readonly mode: Mode;
  readonly seeds: number;
  readonly from: number;
  readonly trace: boolean;
  /** The number of processes. Each has its own database. */
  readonly jobs: number;
  /** Runs only stories with this text in their name. Null: all stories. */
  readonly story: string | null;
  /** The faults of one run: step and kind. Null: no faults in a story, and random faults in a seed. */
  readonly faults: readonly (readonly [number, FaultKind])[] | null;
  /** The run leaves out these parts of the seed's story, each named by its number. */
  readonly without: readonly number[];
  /** The reason to keep the reduced run as a test. Null: the command only shows the run. */
  readonly keep: string | null;
  /** Runs only every n-th exhaustive run, beginning with `from`. */
  readonly every: number;
  /** Runs only the order of events with this number. Null: all orders. */
  readonly order: number | null;
  readonly customers: number;
  readonly months: number;
};

export const usage = `npm run simulate -- [--seeds N] [--from S]
    N runs of random stories under random faults, from seed S on (default 100 from 1)
npm run simulate -- --exhaustive [--story NAME] [--every N [--from K]]
    each golden story with every single fault legal at each of its steps; or of these runs every
    N-th from the K-th on, so K from 1 to N make the whole
npm run simulate -- --pairs [--seeds N] [--from S] [--story NAME]
    N pairs of faults over the golden stories, the second soon after the first, drawn by seeds from S on (default 100)
npm run simulate -- --permutations [--order N]
    the events of one invoice in every order
npm run simulate -- --soak [--customers C] [--months M] [--from S]
    worlds of C customers over M virtual months under random faults (default 40 and 3), one for each process
npm run simulate -- --story NAME --faults STEP:KIND,STEP:KIND --trace
    one run of a story with these faults (none: without), step by step
npm run simulate -- --seeds 1 --from S --faults STEP:KIND,… [--without PART,PART] --trace
    one run of a seed's story with these faults and without these parts of it
npm run simulate -- --shrink --from S [--keep "why it failed"]
    the smallest run of seed S still breaking the same rule; --keep makes it a test
--jobs J    processes (default: one for each core, at most 8)
--trace     every step of every run
Exit codes: 0 all rules hold, 1 a broken rule, 2 wrong arguments.`;

const MOST_JOBS = 8;

/** Throws with a sentence for people if an argument is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      trace: { type: 'boolean', default: false },
      jobs: { type: 'string', default: String(Math.min(MOST_JOBS, availableParallelism())) },
      exhaustive: { type: 'boolean', default: false },
      pairs: { type: 'boolean', default: false },
      permutations: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      story: { type: 'string' },
      faults: { type: 'string' },
      without: { type: 'string' },
      shrink: { type: 'boolean', default: false },
      keep: { type: 'string' },
      every: { type: 'string', default: '1' },
      order: { type: 'string' },
      customers: { type: 'string', default: '40' },
      months: { type: 'string', default: '3' },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    mode: modeOf(values),
    seeds: whole('--seeds', values.seeds, 1),
    from: whole('--from', values.from, 0),
    trace: values.trace,
    jobs: whole('--jobs', values.jobs, 1),
    story: values.story ?? null,
    faults: values.faults === undefined ? null : faultsIn(values.faults),
    without: values.without === undefined ? [] : values.without.split(',').map((n) => whole('--without', n, 0)),
    keep: values.keep ?? null,
    every: whole('--every', values.every, 1),
    order: values.order === undefined ? null : whole('--order', values.order, 0),
    customers: whole('--customers', values.customers, 1),
    months: whole('--months', values.months, 1),
  };
}

function modeOf(values: Readonly<Record<string, unknown>>): Mode {
  const named = (['help', 'exhaustive', 'pairs', 'permutations', 'soak', 'shrink'] as const).find(
    (m) => values[m] === true,
  );
  return named ?? (values['story'] === undefined ? 'seeds' : 'story');
}

function faultsIn(text: string): NonNullable<Options['faults']> {
  if (text === 'none') return [];
  return text.split(',').map((part) => {
    const [at = '', kind = ''] = part.split(':');
    if (!isFaultKind(kind)) throw new Error(`--faults must be STEP:KIND,…: there is no fault ${kind || part}`);
    return [whole('--faults', at, 0), kind];
  });
}

function whole(name: string, text: string, least: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    throw new Error(`${name} must be a whole number from ${least} on`);
  return Number(text);
}
