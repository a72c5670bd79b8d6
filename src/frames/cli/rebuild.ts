// `crossbill rebuild`: compares the read model of every invoice with its log, and corrects it.
import { Rebuild, type Rebuilt } from '../../engine/rebuild.js';
import { type Commands } from './commands.js';
import { EXIT } from './exit-codes.js';
import { plain } from './table.js';

/** The most failures to show: further failures usually have the same cause. */
const FAILED_SHOWN = 20;

export function addRebuild(on: Commands): void {
  on.add('rebuild', on.about)
    .option('--check', 'only compare; exit code 3 when something differs')
    .action(
      on.run(async (cli, { check = false }) => {
        const app = await cli.open();
        const rebuild = new Rebuild(app.db);
        const total = await rebuild.count();
        const done = await cli.watch((progress) => {
          const work = () => rebuild.run(check, (lanes) => progress.bar('invoices', lanes, total));
          const about = (rebuilt: Rebuilt) => ({ detail: { ...rebuilt, failed: rebuilt.failed.length } });
          return check ? work() : app.change('books.rebuild', null, work, about);
        });
        await cli.print(done, () => render(done, check));
        if (done.failed.length > 0) return EXIT.failed;
        return check && done.differed > 0 ? EXIT.differences : EXIT.ok;
      }),
    );
}

function render({ lanes, differed, failed }: Rebuilt, check: boolean): string {
  if (differed === 0 && failed.length === 0) return `The read rows of all ${lanes} invoices match their logs.\n`;
  const head = `The read rows of ${differed} of ${lanes} invoices did not match their logs${check ? '' : '; Crossbill corrected them'}.\n`;
  if (failed.length === 0) return head;
  const shown = failed.slice(0, FAILED_SHOWN).map(({ lane, why }) => `  ${plain(lane)}: ${plain(why)}\n`);
  const more = failed.length > shown.length ? `  and ${failed.length - shown.length} more\n` : '';
  return `${head}Crossbill cannot rebuild ${failed.length}:\n${shown.join('')}${more}`;
}
