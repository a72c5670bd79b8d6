// The console page of the newest verify run: its differences, their repair, and their acknowledgement by a person.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mayDo } from '../../frames/api/access/roles.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { invalid, notFound, Problem } from '../../frames/api/http/problem.js';
import { isPlainText, NOTE_MAX } from '../../frames/api/http/rules.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { acknowledgedOf, showMarksLeft, unnotifiedOf, type VerifyRun } from './rules/run.js';
import { VerifyRepository } from './verify.repository.js';
import { differenceFields, listedDifference } from './difference.fields.js';
import { type Difference, isOpen, showCounts } from '../../shared/domain/difference.js';
import { showLossWindow } from './rules/loss-window.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionIfAny, sessionOf } from '../../frames/console/console.guard.js';
import { csvColumns } from '../../frames/console/fields.js';
import { formOf } from '../../frames/console/form.js';
import { html, type Html, type Piece } from '../../frames/console/html.js';
import { formToken, sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { queryText, table } from '../../frames/console/list.js';
import { actForm, actRow } from '../../frames/console/acts.js';
import { csvLink, sendText, wantsCsv } from '../../frames/console/selection.js';
import { type Session } from '../../frames/console/session.js';
import { areaField, type Typed, typedOf } from '../../frames/console/typed.js';
import {
  capital,
  day,
  facts,
  foreign,
  id,
  invoiceNumberLink,
  reviewLink,
  status,
  time,
  words,
} from '../../frames/console/show.js';

const PATH = '/console/verify';

@Pages('console/verify')
export class VerifyPages {
  constructor(
    private readonly verify: VerifyRepository,
    private readonly clock: Clock,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get()
  @Page('verify.read')
  async newest(@Req() req: Request, @Res() res: Response): Promise<void> {
    const run = await this.verify.last();
    if (wantsCsv(req)) return sendText(res, 'differences', csvOf(run));
    const session = sessionIfAny(req);
    const act = session !== null && mayDo(session.role, 'ops') && actRow([actForm(session, `${PATH}/run`, 'Run now')]);
    const soon =
      queryText(req, 'soon') === 'yes' &&
      html`<p class="message good" role="status">The run begins within a minute.</p>`;
    const shown = run === null ? neverRun : runOf(run, await this.verify.numbers(run.differences.slice(0, MOST_SHOWN)));
    sendPage(req, res, { title: 'Verify', section: 'verify', body: html`${soon}${act}${shown}` });
  }

  @Post('run')
  @HttpCode(303)
  @Page('verify.run', 'ops')
  async run(@Req() req: Request, @Res() res: Response): Promise<void> {
    const run = async (): Promise<{ readonly id: string }> => {
      if (await this.verify.runSoon()) return { id: 'verify' };
      throw new Problem(409, 'verify_under_way', 'A run is under way, or begins by itself within the hour.');
    };
    await this.audit.post(req, res, {
      action: 'verify.run',
      work: run,
      pathOf: () => `${PATH}?soon=yes`,
      again: () => this.newest(req, res),
    });
  }

  @Get(':id')
  @Page('verify.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) name: string): Promise<void> {
    const d = (await this.verify.last())?.differences.find((x) => x.id === name);
    if (d === undefined) throw notFound('difference in the newest verify run');
    const session = sessionOf(req);
    const numbers = await this.verify.numbers([d]);
    const body = html`${differenceFacts(d, numbers)}${mayDo(session.role, 'ops') && isOpen(d) && noteForm(session, name, typedOf(req))}`;
    sendPage(req, res, { title: `Difference: ${words(d.kind)}`, section: 'verify', body });
  }

  @Post(':id/acknowledge')
  @HttpCode(303)
  @Page('verify.acknowledge', 'ops')
  async acknowledge(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) name: string): Promise<void> {
    const acknowledge = async (by: Session): Promise<{ readonly id: string }> => {
      const note = formOf(req).text('note').replace(/\s+/g, ' ').trim();
      if (note === '' || !isPlainText(note, NOTE_MAX))
        throw invalid('note', `must be text of 1 to ${NOTE_MAX} characters`);
      const done = await this.verify.acknowledge(name, { note, by: by.name, at: this.clock.now() });
      if (done === null) throw notFound('difference in the newest verify run');
      return { id: name };
    };
    const path = `${PATH}/${encodeURIComponent(name)}`;
    const again = (): Promise<void> => this.one(req, res, name);
    await this.audit.post(req, res, { action: 'verify.acknowledge', work: acknowledge, pathOf: () => path, again });
  }
}

/** Invoice numbers, by invoice id. */
type Numbers = ReadonlyMap<string, string | null>;

function differenceFacts(difference: Difference, numbers: Numbers): Html {
  const { acknowledged } = difference;
  return html`<p class="message ${isOpen(difference) ? 'bad' : 'good'}"><bdi>${difference.detail}</bdi></p>
    ${facts([
      difference.invoiceId === null
        ? null
        : ['Invoice', invoiceNumberLink(difference.invoiceId, numbers.get(difference.invoiceId))],
      difference.objectId === null ? null : ['Object', foreign(difference.objectId)],
      difference.reviewId === null ? null : ['Review item', reviewLink(difference.reviewId)],
      ['Repair', mend(difference)],
      ['Difference', id(difference.id)],
      ...(acknowledged
        ? [
            ['Acknowledged', time(acknowledged.at)] as const,
            ['By', foreign(acknowledged.by)] as const,
            ['Note', foreign(acknowledged.note)] as const,
          ]
        : []),
    ])}`;
}

function mend(difference: Difference): Piece {
  return difference.repair === 'person' ? 'by a person' : html`<code class="command">crossbill verify --repair</code>`;
}

function noteForm(session: Session, name: string, typed: Typed): Html {
  return html`<form class="card" action="${PATH}/${encodeURIComponent(name)}/acknowledge" method="post">
    ${formToken(session)}
    ${areaField(
      typed,
      {
        name: 'note',
        label: 'Why this difference may stay',
        hint: 'Verify counts this difference as acknowledged until its facts change.',
      },
      html`maxlength="${NOTE_MAX}" required`,
    )}
    <p class="buttons"><button>Acknowledge</button></p>
  </form>`;
}

/** The most differences on the page. `crossbill verify` lists more. */
const MOST_SHOWN = 500;

/** The CSV of all differences stored with the run. */
function csvOf(run: VerifyRun | null): readonly (readonly string[])[] {
  const columns = csvColumns(differenceFields);
  const rows = (run?.differences ?? []).map(listedDifference).map((row) => columns.map(([, cell]) => cell(row)));
  return [columns.map(([title]) => title), ...rows];
}

const neverRun = html`<div class="empty">
  <p>Verify has not run yet. It compares the ledger with Stripe and with the MoR, once a day.</p>
  <p>To run it now: <code>crossbill verify</code></p>
</div>`;

function runOf(run: VerifyRun, numbers: Numbers): Html {
  const all = Object.values(run.more).reduce((sum, n) => sum + n, run.differences.length);
  return html`${facts([
    ['Outcome', status(run.outcome)],
    ['Days it covered', `${day(run.since)} to ${day(run.startedAt)}, in UTC`],
    ['Began', time(run.startedAt)],
    ...(run.resumedFrom === null ? [] : [['Resumes the run of', time(run.beganAt)] as const]),
    ['Ended', time(run.finishedAt, 'not yet')],
    ['Compared', showCounts(run.compared)],
    ['Marks left to look up at the MoR', run.marksLeft === null ? 'not counted' : showMarksLeft(run.marksLeft)],
    ['Differences', all],
    ['Of these not handled yet', unnotifiedOf(run)],
    ['Acknowledged by a person', acknowledgedOf(run).length],
  ])}
  ${run.lossWindows.map((w) => html`<p class="message bad">${capital(showLossWindow(w))}.</p>`)}
  ${run.differences.length > 0 && csvLink(PATH, {})}
  ${table(
    all > MOST_SHOWN ? `The first ${MOST_SHOWN} differences of the last run` : 'Differences of the last run',
    [
      { label: 'What', cell: (d) => html`<a href="${PATH}/${d.id}">${words(d.kind)}</a>`, phone: 'lead' },
      { label: 'In words', cell: (d) => foreign(d.detail) },
      { label: 'Repair', cell: (d) => html`<span class="on-phone">repair: </span>${mend(d)}` },
      {
        label: 'Handled',
        cell: (d) =>
          d.acknowledged
            ? html`acknowledged by ${foreign(d.acknowledged.by)}`
            : d.reviewId === null
              ? html`<span class="dim"><span class="on-phone">handled: </span>not yet</span>`
              : reviewLink(d.reviewId),
        phone: 'side',
      },
      {
        label: 'Invoice',
        cell: (d) => (d.invoiceId === null ? '' : invoiceNumberLink(d.invoiceId, numbers.get(d.invoiceId))),
      },
    ],
    run.differences.slice(0, MOST_SHOWN),
    run.outcome === 'incomplete'
      ? 'Crossbill found none so far, but this run did not compare everything.'
      : run.marksLeft === 0
        ? 'None: the ledger, Stripe and the MoR agree.'
        : 'None: the ledger and Stripe agree.',
  )}`;
}
