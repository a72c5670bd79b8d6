// `crossbill ask-mor`: every open question of the books as one text, ready to send to the MoR's support.
import { Clock } from '../domain/ports/clock.js';
import { letter } from './ask-mor/letter.js';
import { openQuestions } from './ask-mor/questions.js';
import { type Commands } from './commands.js';

export function addAskMor(on: Commands): void {
  on.add(
    'ask-mor',
    "print the open questions of the books as one text for the MoR's support: ids and times, no personal data; changes nothing",
  ).action(
    on.run(async (cli) => {
      const world = await cli.open();
      const now = world.get(Clock).now();
      const clientId = world.config.morClientId;
      const questions = await openQuestions(world);
      const view = { client_id: clientId, at: now.toISOString(), questions };
      await cli.print(view, () => letter(questions, clientId, now));
    }),
  );
}
