// The command line of `npm run fuzz`.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export type Options = {
  readonly mode: 'run' | 'list' | 'help';
  readonly minutes: number;
  /** The names of the targets. Empty: all. */
  readonly only: readonly string[];
  readonly seed: number;
  /** The place of one input among those of the seed: only this one runs. Null: rounds follow until the time is up. */
  readonly path: string | null;
};

export const usage = `npm run fuzz -- [--minutes M] [--only NAME,NAME] [--seed S]
    every parser of outside data, one after the other, again and again for M minutes (default 60)
npm run fuzz -- --only NAME --seed S --path P
    one input of one target again, as the report of its failure names it
npm run fuzz -- --list
    the targets

Exit code 1: an input broke a parser; the program prints it with the command to try it again. Once mended, add it to packages/proof/test/corpus.json.`;

/** Throws an Error with the reason. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '60' },
      only: { type: 'string', default: '' },
      seed: { type: 'string' },
      path: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    mode: values.help ? 'help' : values.list ? 'list' : 'run',
    minutes: number('--minutes', values.minutes),
    only: values.only.split(',').filter((name) => name !== ''),
    seed: values.seed === undefined ? randomInt(1, 2 ** 31) : number('--seed', values.seed),
    path: values.path ?? null,
  };
}

function number(name: string, text: string): number {
  if (!/^\d{1,10}(\.\d{1,3})?$/.test(text) || Number(text) <= 0) throw new Error(`${name} must be a number above 0`);
  return Number(text);
}
