// `crossbill rebuild`: the read rows of every invoice, compared with its log and made again where they differ.
import { type Command } from 'commander';
import { Rebuild, type Rebuilt } from '../engine/rebuild.js';
import { EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { type Session } from './session.js';
import { plain } from './table.js';

/** More of them have one cause. */
const FAILED_SHOWN = 20;

export function addRebuild(program: Command, session: Session): void {
  session
    .leaf(program, 'rebuild', "write every invoice's read rows again from its log, where they differ", async (cli) => {
      const check = cli.options['check'] === true;
      const world = await cli.open();
      const rebuild = new Rebuild(world.db);
      const total = await rebuild.count();
      const progress = new Progress(cli.io);
      const work = (): Promise<Rebuilt> => rebuild.run(check, (lanes) => progress.bar('invoices', lanes, total));
      const done = await (check ? work() : world.change('books.rebuild', null, work, counted)).finally(() =>
        progress.end(),
      );
      await cli.print(done, () => `${sentenceOf(done, check)}\n${failedOf(done)}`);
      if (done.failed.length > 0) return EXIT.failed;
      return check && done.differed > 0 ? EXIT.differences : EXIT.ok;
    })
    .option('--check', 'only compare; exit code 3 when something differs');
}

function counted({ lanes, differed, failed }: Rebuilt): { readonly detail: Readonly<Record<string, number>> } {
  return { detail: { lanes, differed, failed: failed.length } };
}

function sentenceOf({ lanes, differed, failed }: Rebuilt, check: boolean): string {
  if (differed === 0 && failed.length === 0) return `The read rows of all ${lanes} invoices match their logs.`;
  return `${differed} of ${lanes} invoices had read rows that differed from their logs${check ? '' : '; they were made again'}.`;
}

function failedOf({ failed }: Rebuilt): string {
  if (failed.length === 0) return '';
  const shown = failed.slice(0, FAILED_SHOWN).map(({ lane, why }) => `  ${plain(lane)}: ${plain(why)}\n`);
  const more = failed.length > shown.length ? `  and ${failed.length - shown.length} more\n` : '';
  return `${failed.length} could not be made again:\n${shown.join('')}${more}`;
}
