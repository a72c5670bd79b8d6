// Logs the result of the daily verify. Info: all agrees. Warning: the run is incomplete, or every difference has a
// review item or an acknowledgement. Error: some difference has neither.
import { Inject, Injectable } from '@nestjs/common';
import { LOG, type Logger } from '../../shared/observe/index.js';
import { showLossWindow } from './rules/loss-window.js';
import { unnotifiedOf } from './rules/run.js';
import { type VerifyReport } from './verify.service.js';

@Injectable()
export class VerifyReports {
  constructor(@Inject(LOG) private readonly log: Logger) {}

  onError(what: string, err: unknown): void {
    this.log.error({ event: 'verify.failed', err }, what);
  }

  onRun({ id, resumedFrom, outcome, compared, differences, more, problem, lossWindows }: VerifyReport): void {
    const { log } = this;
    for (const w of lossWindows) log.warn({ event: 'verify.loss_window', run: id }, showLossWindow(w));
    const unnotified = unnotifiedOf({ differences, more });
    const beyond = Object.keys(more).length === 0 ? {} : { more };
    const line = {
      run: id,
      ...(resumedFrom === null ? {} : { resumedFrom }),
      compared,
      untold: unnotified,
      ...beyond,
      problem,
    };
    if (outcome === 'clean') log.info({ event: 'verify.clean', ...line }, 'verify found no open difference');
    else if (outcome === 'incomplete')
      log.warn({ event: 'verify.incomplete', ...line }, "verify couldn't compare everything; the next run resumes it");
    else if (unnotified === 0)
      log.warn({ event: 'verify.differences', ...line }, 'verify found differences; each is in review or acknowledged');
    else {
      const todo = 'verify found differences without an open review item: `crossbill verify` lists them';
      log.error({ event: 'verify.differences', ...line }, todo);
    }
  }
}
