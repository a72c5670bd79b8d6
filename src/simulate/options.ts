// The command line of the simulation.
import { parseArgs } from 'node:util';

export type Options = {
  readonly mode: 'seeds' | 'exhaustive' | 'permutations' | 'help';
  readonly seeds: number;
  readonly from: number;
  readonly trace: boolean;
  /** Part of a story's name; null: all stories. */
  readonly story: string | null;
  /** One fault of one story: the step and its kind. */
  readonly at: number | null;
  readonly fault: string | null;
  /** Of the exhaustive runs, every n-th. */
  readonly every: number;
};

export const usage = `npm run simulate -- [--seeds N] [--from S] [--trace]
    N runs of random stories under random faults, from seed S on (default 100 from 1)
npm run simulate -- --exhaustive [--story NAME] [--every N]
    each golden story with every single fault that is legal at each of its steps
npm run simulate -- --exhaustive --story NAME --at STEP --fault KIND --trace
    one of them
npm run simulate -- --permutations
    the events of one invoice in every order
Exit codes: 0 all rules hold, 1 a rule is broken, 2 wrong arguments.`;

/** Throws with a sentence for people when an argument is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      trace: { type: 'boolean', default: false },
      exhaustive: { type: 'boolean', default: false },
      permutations: { type: 'boolean', default: false },
      story: { type: 'string' },
      at: { type: 'string' },
      fault: { type: 'string' },
      every: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  const mode = values.help ? 'help' : values.exhaustive ? 'exhaustive' : values.permutations ? 'permutations' : 'seeds';
  return {
    mode,
    seeds: whole('--seeds', values.seeds, 1),
    from: whole('--from', values.from, 0),
    trace: values.trace,
    story: values.story ?? null,
    at: values.at === undefined ? null : whole('--at', values.at, 0),
    fault: values.fault ?? null,
    every: whole('--every', values.every, 1),
  };
}

function whole(name: string, text: string, least: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    throw new Error(`${name} must be a whole number from ${least} on`);
  return Number(text);
}
