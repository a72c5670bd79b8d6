// What becomes of the daily verify, as log lines.
import { untoldOf } from './rules/run.js';
import { type Logger } from '../observe/index.js';
import { showLossWindow } from './rules/loss-window.js';
import { type VerifyJobReports } from './verify-job.js';

/** The outcome of the daily verify: silence when all is well, a line that a person is woken by when a difference has no open review item. */
export function verifyReports(log: Logger): VerifyJobReports {
  return {
    onError: (what, error) => log.error({ event: 'verify.failed', err: error }, what),
    onRun: ({ id, resumedFrom, outcome, compared, differences, more, problem, lossWindows }) => {
      for (const w of lossWindows) log.warn({ event: 'verify.loss_window', run: id }, showLossWindow(w));
      const untold = untoldOf({ differences, more });
      const beyond = Object.keys(more).length === 0 ? {} : { more };
      const line = { run: id, ...(resumedFrom === null ? {} : { resumedFrom }), compared, untold, ...beyond, problem };
      if (outcome === 'clean')
        log.info({ event: 'verify.clean', ...line }, 'verified: ledger, Stripe and the MoR agree');
      else if (outcome === 'incomplete')
        log.warn(
          { event: 'verify.incomplete', ...line },
          'verify could not compare everything; the next run resumes it',
        );
      else
        log.error(
          { event: 'verify.differences', ...line },
          'verify found differences without an open review item: run `crossbill verify`',
        );
    },
  };
}
