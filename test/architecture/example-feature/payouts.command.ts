// `crossbill payouts`: the delayed payouts.
import { type Commands } from '../../frames/cli/commands.js';
import { PayoutsController } from './payouts.module.js';

export function addPayouts(on: Commands): void {
  on.add('payouts', on.about).action(
    on.run(async (cli) => {
      const delayed = await (await cli.open()).get(PayoutsController).list();
      await cli.print({ delayed }, () => delayed.map((row) => `${row.review_id}\n`).join(''));
    }),
  );
}
