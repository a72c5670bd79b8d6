// Review items: what waits for a person, and what the person chooses.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mayDo } from '../api/access/caller.js';
import { IdPipe } from '../api/http/id.pipe.js';
import { given } from '../api/http/page.js';
import { invalid, notFound, Problem, valueOrProblem } from '../api/http/problem.js';
import { isPlainText } from '../api/http/rules.js';
import { isNamed, RESOLUTIONS, REVIEW_KINDS, REVIEW_STATUSES } from './review.view.js';
import { resolutionsOf } from './rules/choices.js';
import { type Resolution, type ReviewRow } from '../domain/model.js';
import { Books, REVIEW_ORDERS } from '../domain/ports/books.js';
import { ReviewsFlow } from './reviews.flow.js';
import { ConsoleAudit } from '../console/console-audit.js';
import { Page, sessionOf } from '../console/console.guard.js';
import { type Form, formOf } from '../console/form.js';
import { html } from '../console/html.js';
import { sendPage } from '../console/layout.js';
import { type Session } from '../console/session.js';
import { Pages } from '../console/pages.js';
import { chosen, type Column, filterForm, pageOf, pager, table } from '../console/list.js';
import { foreign, invoiceLink, reviewLink, status, time, words } from '../console/show.js';
import { type Choice, choiceForm, confirmChoice, reviewFacts } from './review-page.js';

const PATH = '/console/reviews';
const FILTERS = [
  { name: 'status', label: 'Status', options: REVIEW_STATUSES },
  { name: 'kind', label: 'Kind', options: REVIEW_KINDS },
  { name: 'invoice_id', label: 'Invoice' },
  { name: 'order', label: 'Order', options: REVIEW_ORDERS },
] as const;

const COLUMNS: readonly Column<ReviewRow>[] = [
  { label: 'Item', cell: (r) => reviewLink(r.id) },
  { label: 'Kind', cell: (r) => words(r.kind) },
  { label: 'Status', cell: (r) => status(r.status) },
  { label: 'What happened', cell: (r) => foreign(r.summary) },
  { label: 'Invoice', cell: (r) => invoiceLink(r.invoiceId) },
  { label: 'Due', cell: (r) => time(r.dueAt, 'none') },
  { label: 'Since', cell: (r) => time(r.createdAt) },
];

@Pages('console/reviews')
export class ReviewPages {
  constructor(
    private readonly books: Books,
    private readonly flow: ReviewsFlow,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get()
  @Page('review.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    const page = pageOf(req);
    const filter = given({ status: values.status, kind: values.kind, invoiceId: values.invoice_id });
    const order = values.order === 'newest' ? 'newest' : 'due';
    const found = await this.books.reviews(filter, page, order);
    const empty =
      Object.keys(values).length > 0
        ? 'No review items match these filters.'
        : 'Nothing waits for a person: every payment found its invoice.';
    const body = html`${filterForm(PATH, FILTERS, values)}
    ${table(order === 'due' ? 'The soonest deadline first' : 'Newest first', COLUMNS, found.data, empty)}${pager(PATH, values, page.cursor, found.nextCursor)}`;
    sendPage(req, res, { title: 'Reviews', section: 'reviews', body });
  }

  @Get(':id')
  @Page('review.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const r = await this.found(id);
    const session = sessionOf(req);
    const acts = r.status === 'open' && mayDo(session.role, 'ops');
    const payment = await this.paymentOf(r);
    const named = isNamed(r, payment);
    const body = html`${reviewFacts(r, payment, named)}${acts && choiceForm(session, r, resolutionsOf(r, named))}`;
    sendPage(req, res, { title: `Review: ${words(r.kind)}`, section: 'reviews', body });
  }

  @Post(':id')
  @HttpCode(200)
  @Page('review.resolve', 'ops')
  async confirm(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const r = await this.found(id);
    if (r.status !== 'open') throw new Problem(409, 'review_already_resolved', 'This item is already resolved.');
    const choice = choiceOf(formOf(req));
    const named = isNamed(r, await this.paymentOf(r));
    if (!resolutionsOf(r, named).includes(choice.resolution))
      throw invalid('resolution', 'is not possible for this item');
    const payment = r.paymentRowId === null ? null : await this.books.payment(r.paymentRowId);
    const body = confirmChoice(sessionOf(req), r, choice, payment);
    sendPage(req, res, { title: 'Confirm', section: 'reviews', body });
  }

  @Post(':id/resolve')
  @HttpCode(303)
  @Page('review.resolve', 'ops')
  async resolve(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const resolve = async (by: Session): Promise<ReviewRow> => {
      const { resolution, note } = choiceOf(formOf(req));
      return valueOrProblem(await this.flow.resolve(id, { resolution, note: note === '' ? null : note, by: by.name }));
    };
    await this.audit.post(req, res, 'review.resolve', resolve, () => `${PATH}/${encodeURIComponent(id)}`);
  }

  private async found(id: string): Promise<ReviewRow> {
    const review = await this.books.review(id);
    if (review === null) throw notFound('review item');
    return review;
  }

  private async paymentOf(r: ReviewRow): Promise<string | null> {
    if (r.paymentRowId === null) return null;
    return (await this.books.paymentNames([r.paymentRowId])).get(r.paymentRowId) ?? r.paymentRowId;
  }
}

function choiceOf(form: Form): Choice {
  const resolution = RESOLUTIONS.find((r): r is Resolution => r === form.text('resolution'));
  if (resolution === undefined) throw invalid('resolution', 'must be chosen');
  // Line breaks are fine to write and not to keep: the note becomes a line of the timeline.
  const note = form.text('note').replace(/\s+/g, ' ').trim();
  if (note !== '' && !isPlainText(note, 1000)) throw invalid('note', 'must be text of at most 1000 characters');
  return { resolution, note };
}
