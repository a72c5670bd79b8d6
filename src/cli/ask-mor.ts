// `crossbill ask-mor`: every open question of the books as one text, ready to send to the MoR's support.
import { type Command } from 'commander';
import { Clock } from '../domain/ports/clock.js';
import { letter } from './ask-mor/letter.js';
import { openQuestions } from './ask-mor/questions.js';
import { EXIT } from './exit-codes.js';
import { type Session } from './session.js';

export function addAskMor(program: Command, session: Session): void {
  session.leaf(
    program,
    'ask-mor',
    "print the open questions of the books as one text for the MoR's support: ids and times, no personal data; changes nothing",
    async (cli) => {
      const world = await cli.open();
      const now = world.get(Clock).now();
      const clientId = world.config.morClientId;
      const questions = await openQuestions(world);
      await cli.print({ client_id: clientId, at: now.toISOString(), questions }, () =>
        letter(questions, clientId, now),
      );
      return EXIT.ok;
    },
  );
}
