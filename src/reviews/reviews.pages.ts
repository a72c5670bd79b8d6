// Review items: what waits for a person, and what the person chooses.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mayDo } from '../api/access/caller.js';
import { IdPipe } from '../api/http/id.pipe.js';
import { given } from '../api/http/page.js';
import { invalid, notFound, Problem, valueOrProblem } from '../api/http/problem.js';
import { isPlainText } from '../api/http/rules.js';
import { isNamed, RESOLUTIONS, REVIEW_KINDS, REVIEW_STATUSES } from './review.view.js';
import { type Resolution, type ReviewRow } from '../domain/model.js';
import { showMoney } from '../domain/money.js';
import { ReviewsStore } from './reviews.store.js';
import { ReadModel } from '../engine/read-model.js';
import { type ReviewFilter } from './reviews.store.js';
import { ReviewsFlow } from './reviews.flow.js';
import { ConsoleAudit } from '../console/console-audit.js';
import { Page, sessionOf } from '../console/console.guard.js';
import { type Form, formOf } from '../console/form.js';
import { html } from '../console/html.js';
import { sendPage } from '../console/layout.js';
import { type Session } from '../console/session.js';
import { Pages } from '../console/pages.js';
import { bulkForm, bulkReport, type Done, goOn, picked, stepsBefore } from '../console/bulk.js';
import { SPAN_FILTERS, spanFrom } from '../console/list-filters.js';
import { chosen, filterForm, pageOf, pager, queryText } from '../console/list.js';
import { csvLink, type CsvColumn, plainTime, sendCsv, wantsCsv } from '../console/selection.js';
import { capital, words } from '../console/show.js';
import { headlineOf, sentencesOf } from './rules/words.js';
import {
  type Case,
  caseIds,
  caseOf,
  decideForm,
  givesBack,
  type Place,
  settledNote,
  whereItIs,
} from './review-page.js';
import { factTable } from './fact-table.js';
import { reviewItems } from './review-items.js';

const PATH = '/console/reviews';
const FILTERS = [
  { name: 'status', label: 'Status', options: REVIEW_STATUSES },
  { name: 'kind', label: 'Kind', options: REVIEW_KINDS },
  ...SPAN_FILTERS,
  { name: 'customer_id', label: 'Customer' },
  { name: 'invoice_id', label: 'Invoice' },
  { name: 'order', label: 'Order', options: ['newest'], any: 'deadline' },
] as const;

const CSV: readonly CsvColumn<ReviewRow>[] = [
  ['review_id', (r) => r.id],
  ['kind', (r) => r.kind],
  ['status', (r) => r.status],
  ['fact', (r) => r.topic],
  ['what_happened', (r) => sentencesOf(r).summary],
  ['invoice_id', (r) => r.invoiceId ?? ''],
  ['due_at', (r) => plainTime(r.dueAt)],
  ['since', (r) => plainTime(r.createdAt)],
  ['settled_at', (r) => plainTime(r.resolvedAt)],
  ['settled_by', (r) => r.resolvedBy ?? ''],
  ['resolution', (r) => r.resolution ?? ''],
  ['note', (r) => r.note ?? ''],
];

/** Open items that are counted and gone through one after the other. */
const WALKED = 200;
/** Items of one step when all that match are settled at once: a few seconds of work. */
const BATCH = 50;

@Pages('console/reviews')
export class ReviewPages {
  constructor(
    private readonly books: ReadModel,
    private readonly reviews: ReviewsStore,
    private readonly flow: ReviewsFlow,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get()
  @Page('review.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    // Whoever comes without a word on the status wants to know what is open; the form's "any" says so.
    const values = { ...(req.query['status'] === undefined ? { status: 'open' } : {}), ...chosen(req, FILTERS) };
    const address = { status: '', ...values }; // "any" must be said, or it would be the open ones
    const filter = filterOf(values);
    // Of settled ones the deadlines are past: those of some days or of a customer are found by their own time, and not through all.
    const few = values.status !== 'open' && (filter.since ?? filter.until ?? filter.customerId) !== undefined;
    const order = values.order === 'newest' || few ? 'newest' : 'due';
    if (wantsCsv(req)) return sendCsv(res, 'reviews', CSV, (page) => this.reviews.list(filter, page, order));
    const page = pageOf(req);
    const found = await this.reviews.list(filter, page, order);
    const session = sessionOf(req);
    const acts = mayDo(session.role, 'ops') && found.data.some((r) => r.status === 'open');
    const body = html`${filterForm(PATH, FILTERS, values)} ${found.data.length > 0 && csvLink(PATH, address)}
    ${reviewItems(found.data, acts, emptyWord(values))}${pager(PATH, address, page.cursor, found.nextCursor)}
    ${acts && bulkForm(session, `${PATH}/bulk`, ACTS, { hint: 'For all of them; may be left empty.', neededFor: null }, values)}`;
    sendPage(req, res, { title: 'Reviews', section: 'reviews', body });
  }

  @Get(':id')
  @Page('review.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const c = await this.caseOf(id);
    const session = sessionOf(req);
    const place = await this.placeOf(id);
    const settled = queryText(req, 'settled');
    const last = settled === '' ? null : await this.reviews.find(settled);
    const acts = c.review.status === 'open' && mayDo(session.role, 'ops');
    const body = html`${last !== null && last.status === 'resolved' && settledNote(last)} ${whereItIs(place)}
    ${caseOf(c)} ${factTable(c.review.fact)} ${acts && decideForm(session, c, place.next)} ${caseIds(c)}`;
    sendPage(req, res, { title: capital(words(c.review.kind)), section: 'reviews', body });
  }

  /** Many at once, one by one: what is refused stops nothing. */
  @Post('bulk')
  @HttpCode(200)
  @Page('review.resolve', 'ops')
  async bulk(@Req() req: Request, @Res() res: Response): Promise<void> {
    const form = formOf(req);
    const act = ACTS.find((a) => a.value === form.text('act'))?.value;
    if (act === undefined) throw invalid('act', 'must be chosen');
    const note = noteOf(form);
    const all = form.text('all') === 'yes';
    const values = filtersIn(form);
    const page = { limit: BATCH, cursor: form.text('cursor') === '' ? null : form.text('cursor') };
    const found = all ? await this.reviews.list({ ...filterOf(values), status: 'open' }, page, 'due') : null;
    const ids = found === null ? picked(form) : found.data.map((r) => r.id);
    const done: Done[] = [];
    for (const id of ids) done.push(await this.settleOne(req, id, act, note));
    const soFar = stepsBefore(form) + done.length;
    const rest = found?.nextCursor ?? null;
    const again = { ...values, all: 'yes', act, note, cursor: rest ?? '', so_far: String(soFar) };
    const body = bulkReport(
      done,
      soFar,
      rest === null ? null : goOn(sessionOf(req), `${PATH}/bulk`, again),
      html`<a href="${PATH}">Open items</a>`,
    );
    sendPage(req, res, { title: 'What became of them', section: 'reviews', body });
  }

  /** Settles it and goes on with the next one. */
  @Post(':id/resolve')
  @HttpCode(303)
  @Page('review.resolve', 'ops')
  async resolve(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const form = formOf(req);
    const place = await this.placeOf(id);
    const next = form.text('next') === '' ? (place.next ?? place.first) : form.text('next');
    const to = next === null || next === id ? null : await this.reviews.find(next);
    const resolve = async (by: Session): Promise<ReviewRow> => {
      const { resolution, note } = choiceOf(form);
      if (resolution === 'refund') sameAsSeen(form, await this.caseOf(id));
      return valueOrProblem(await this.flow.resolve(id, { resolution, note: note === '' ? null : note, by: by.name }));
    };
    const onward = to?.status === 'open' ? to.id : id;
    const query = `?settled=${encodeURIComponent(id)}`;
    await this.audit.post(req, res, 'review.resolve', resolve, () => `${PATH}/${encodeURIComponent(onward)}${query}`);
  }

  private async settleOne(req: Request, id: string, resolution: Resolution, note: string): Promise<Done> {
    const r = await this.reviews.find(id);
    const what = html`<a href="${PATH}/${encodeURIComponent(id)}"
      ><bdi>${r === null ? id : capital(headlineOf(r))}</bdi></a
    >`;
    const done = await this.audit.one(req, 'review.resolve', id, async (by) =>
      valueOrProblem(await this.flow.resolve(id, { resolution, note: note === '' ? null : note, by: by.name })),
    );
    const said = done.ok ? html`settled: ${words(resolution)}` : html`not done: <bdi>${done.why}</bdi>`;
    return { id, ok: done.ok, said: html`${what}<span class="meta">${said}</span>` };
  }

  private async caseOf(id: string): Promise<Case> {
    const review = await this.reviews.find(id);
    if (review === null) throw notFound('review item');
    const { paymentRowId: row, invoiceId } = review;
    const payment = row === null ? null : ((await this.books.paymentNames([row])).get(row) ?? row);
    const invoice = invoiceId === null ? null : await this.books.invoice(invoiceId);
    return { review, payment, named: isNamed(review, payment), invoice };
  }

  /** Among the open items, the soonest deadline first. */
  private async placeOf(id: string): Promise<Place> {
    const found = await this.reviews.list({ status: 'open' }, { limit: WALKED, cursor: null }, 'due');
    const ids = found.data.map((r) => r.id);
    const at = ids.indexOf(id);
    const first = ids.find((other) => other !== id) ?? null;
    const place = { open: ids.length, more: found.nextCursor !== null, first };
    if (at < 0) return { ...place, at: null, previous: null, next: ids[0] ?? null };
    return { ...place, at: at + 1, previous: ids[at - 1] ?? null, next: ids[at + 1] ?? null };
  }
}

/** What "Refund 29.90 EUR" said must still be what would be given back. */
function sameAsSeen(form: Form, c: Case): void {
  const seen = form.text('seen');
  const now = givesBack(c);
  if (seen === '' || now === null || seen === String(now.minor)) return;
  const why = `By now ${showMoney(now)} would be given back. Nothing was done: look at the item again.`;
  throw new Problem(409, 'amount_changed', why);
}

const ACTS = [
  { value: 'dismiss', label: 'Dismiss them' },
  { value: 'retry', label: 'Try them again' },
] as const;

type Values = Partial<Record<(typeof FILTERS)[number]['name'], string>>;

function filterOf(values: Values): ReviewFilter {
  const { status, kind, invoice_id: invoiceId, customer_id: customerId } = values;
  return { ...given({ status, kind, invoiceId, customerId }), ...spanFrom(values) };
}

/** The filters of the list that a form came from. */
function filtersIn(form: Form): Values {
  const names = FILTERS.map((f) => f.name).filter((n) => form.text(n) !== '');
  return Object.fromEntries(names.map((n) => [n, form.text(n)]));
}

function emptyWord(values: Values): string {
  const open = values.status === 'open' && Object.keys(values).every((n) => n === 'status' || n === 'order');
  return open
    ? 'Nothing waits for a person. Items come here when money does not fit its invoice, or when something cannot be done.'
    : 'No review items match these filters.';
}

function noteOf(form: Form): string {
  // Line breaks are fine to write and not to keep: the note becomes a line of the timeline.
  const note = form.text('note').replace(/\s+/g, ' ').trim();
  if (note !== '' && !isPlainText(note, 1000)) throw invalid('note', 'must be text of at most 1000 characters');
  return note;
}

function choiceOf(form: Form): { readonly resolution: Resolution; readonly note: string } {
  const resolution = RESOLUTIONS.find((r): r is Resolution => r === form.text('resolution'));
  if (resolution === undefined) throw invalid('resolution', 'must be chosen');
  return { resolution, note: noteOf(form) };
}
