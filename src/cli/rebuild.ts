// `crossbill rebuild`: the read rows of every invoice, compared with its log and made again where they differ.
import { type Command } from 'commander';
import { Rebuild } from '../store/rebuild.js';
import { EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { type Session } from './session.js';

export function addRebuild(program: Command, session: Session): void {
  session
    .leaf(program, 'rebuild', "write every invoice's read rows again from its log, where they differ", async (cli) => {
      const check = cli.options['check'] === true;
      const world = await cli.open();
      const rebuild = new Rebuild(world.db);
      const total = await rebuild.count();
      const progress = new Progress(cli.io);
      const work = (): Promise<{ lanes: number; differed: number }> =>
        rebuild.run(check, (lanes) => progress.bar('invoices', lanes, total));
      const done = await (check ? work() : world.change('books.rebuild', null, work, (detail) => ({ detail }))).finally(
        () => progress.end(),
      );
      await cli.print(done, () =>
        done.differed === 0
          ? `The read rows of all ${done.lanes} invoices match their logs.\n`
          : `${done.differed} of ${done.lanes} invoices had read rows that differed from their logs${check ? '' : '; they were made again'}.\n`,
      );
      return check && done.differed > 0 ? EXIT.differences : EXIT.ok;
    })
    .option('--check', 'only compare; exit code 3 when something differs');
}
