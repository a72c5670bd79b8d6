// The console's pages of review items: work for a person, and the person's choice.
import { REVIEW_KINDS } from './rules/impact.js';
import { Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mayDo } from '../../frames/api/access/roles.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { given } from '../../frames/api/http/page.js';
import { invalid, notFound, Problem, valueOrProblem } from '../../frames/api/http/problem.js';
import { isPlainText, NOTE_MAX } from '../../frames/api/http/rules.js';
import { type Config, CONFIG } from '../../shared/config/index.js';
import { reviewFields } from './review.fields.js';
import { isNamed, REVIEW_STATUSES, type ReviewView, reviewView } from './review.view.js';
import { type Resolution, RESOLUTIONS, type ReviewRow } from '../../shared/domain/review-row.js';
import { showMoney } from '../../shared/domain/money.js';
import { type Page as RowsPage, type PageRequest } from '../../shared/domain/page.js';
import { ReviewsRepository, type ReviewFilter } from './reviews.repository.js';
import { ReadModel } from '../../engine/read-model.js';
import { ReviewsService } from './reviews.service.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { type Form, formOf } from '../../frames/console/form.js';
import { html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { type Session } from '../../frames/console/session.js';
import { typedOf } from '../../frames/console/typed.js';
import { Pages } from '../../frames/console/pages.js';
import { actOnMany, type Done } from '../../frames/console/bulk.js';
import { SPAN_FILTERS, spanFrom } from '../../frames/console/list-filters.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';
import { CUSTOMER_FILTER, INVOICE_FILTER, chosen, isAsked, queryText } from '../../frames/console/list.js';
import { wantsCsv } from '../../frames/console/selection.js';
import { capital, words } from '../../frames/console/show.js';
import { sentencesOf } from './rules/words.js';
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
import { headingOf } from './review-heading.view.js';
import { reviewItems, type ShownReview } from './review-items.js';

const PATH = '/console/reviews';
const FILTERS = [
  { name: 'status', label: 'Status', options: REVIEW_STATUSES },
  { name: 'kind', label: 'Kind', options: REVIEW_KINDS },
  ...SPAN_FILTERS,
  CUSTOMER_FILTER,
  INVOICE_FILTER,
  { name: 'order', label: 'Order', options: ['newest'], any: 'deadline' },
] as const;

/** The most open items to count for an item's place: the items with the soonest deadlines. */
const WALKED = 200;
@Pages('console/reviews')
export class ReviewPages {
  constructor(
    private readonly books: ReadModel,
    private readonly reviews: ReviewsRepository,
    private readonly service: ReviewsService,
    private readonly audit: ConsoleAudit,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    @Inject(CONFIG) private readonly config: Pick<Config, 'morPortalUrl'>,
  ) {}

  @Get()
  @Page('review.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    // Without a status in the address the page shows open items. The filter "any" puts an empty status into the
    // address.
    const values = { ...(isAsked(req, 'status') ? {} : { status: 'open' }), ...chosen(req, FILTERS) };
    const empty = emptyWord(values);
    await sendList(req, res, {
      title: 'Reviews',
      section: 'reviews',
      path: PATH,
      filters: FILTERS,
      values,
      keep: { status: '' }, // without it the next page would show open items only
      filter: filterOf,
      read: (filter, page) => this.views(filter, page, orderOf(values, filter), !wantsCsv(req)),
      caption: 'Review items',
      fields: ['reviews', reviewFields],
      names: this.names,
      find: this.finder,
      show: (rows, boxes) => reviewItems(rows, boxes, empty),
      many: { acts: MANY, label: ({ row }) => (row.status === 'open' ? [row.id, sentencesOf(row).summary] : null) },
      empty: { filtered: empty, yet: empty },
    });
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
    const body = html`${last !== null && last.status === 'resolved' && settledNote(last)}
    ${whereItIs(place, c.review.status === 'open')} ${caseOf(c)} ${factTable(c.review.fact)}
    ${acts && decideForm(session, c, place.next, typedOf(req))} ${caseIds(c)}`;
    sendPage(req, res, { title: capital(words(c.review.kind)), section: 'reviews', body });
  }

  @Post('bulk')
  @HttpCode(200)
  @Page('review.resolve', 'ops')
  async bulk(@Req() req: Request, @Res() res: Response): Promise<void> {
    await actOnMany(req, res, {
      section: 'reviews',
      path: PATH,
      acts: ACTS,
      filters: FILTERS,
      note: noteOf,
      matching: (values, page) => this.reviews.list({ ...filterOf(values), status: 'open' }, page, 'due'),
      act: async (ids, act, note) => {
        const done: Done[] = [];
        for (const id of ids) done.push(await this.settleOne(req, id, act, note));
        return done;
      },
      back: html`<a href="${PATH}">Open items</a>`,
      again: () => this.list(req, res),
    });
  }

  /** Closes the item and shows the next open item. */
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
      return valueOrProblem(
        await this.service.resolve(id, { resolution, note: note === '' ? null : note, by: by.name }),
      );
    };
    const onward = to?.status === 'open' ? to.id : id;
    const query = `?settled=${encodeURIComponent(id)}`;
    const path = `${PATH}/${encodeURIComponent(onward)}${query}`;
    const again = (): Promise<void> => this.one(req, res, id);
    await this.audit.post(req, res, { action: 'review.resolve', work: resolve, pathOf: () => path, again });
  }

  private async views(
    filter: ReviewFilter,
    page: PageRequest,
    order: 'due' | 'newest',
    isShown: boolean,
  ): Promise<RowsPage<ListedReview>> {
    const found = await this.reviews.list(filter, page, order);
    const payments = await this.books.paymentNames(found.data.flatMap((r) => r.paymentRowId ?? []));
    const abouts = isShown ? await this.reviews.abouts(found.data) : new Map<string, never>();
    const names = await this.names.of([...new Set([...abouts.values()].flatMap((a) => a.customerId ?? []))]);
    return viewsOf(found, (row) => {
      const heading = headingOf(capital(words(row.kind)), abouts.get(row.id), names);
      return { ...reviewView(row, payments), row, heading };
    });
  }

  private async settleOne(req: Request, id: string, resolution: Resolution, note: string): Promise<Done> {
    const r = await this.reviews.find(id);
    const what = html`<a href="${PATH}/${encodeURIComponent(id)}"
      ><bdi>${r === null ? id : capital(sentencesOf(r).summary)}</bdi></a
    >`;
    const done = await this.audit.one(req, 'review.resolve', id, async (by) =>
      valueOrProblem(await this.service.resolve(id, { resolution, note: note === '' ? null : note, by: by.name })),
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
    const customer = invoice?.invoice.customerId;
    const names = await this.names.of(typeof customer === 'string' ? [customer] : []);
    const { morPortalUrl: portal } = this.config;
    return { review, payment, named: isNamed(review, payment), invoice, names, portal };
  }

  /** The item's place among the open items, the soonest deadline first. */
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

/** Refuses the refund if its amount has changed since the person saw the amount on the button. */
function sameAsSeen(form: Form, example: Case): void {
  const seen = form.text('seen');
  const now = givesBack(example);
  if (seen === '' || now === null || seen === String(now.minor)) return;
  const why = `The amount to refund is now ${showMoney(now)}, so Crossbill refunded nothing. Look at the item again.`;
  throw new Problem(409, 'amount_changed', why);
}

const ACTS = [
  { value: 'dismiss', label: 'Dismiss them' },
  { value: 'retry', label: 'Try them again' },
] as const;
const MANY = { acts: ACTS, hint: 'Optional: one note for all chosen items.', neededFor: null };

type ListedReview = ReviewView & ShownReview;
type Values = Partial<Record<(typeof FILTERS)[number]['name'], string>>;

function filterOf(values: Values): ReviewFilter {
  const { status, kind, invoice_id: invoiceId, customer_id: customerId } = values;
  return { ...given({ status, kind, invoiceId, customerId }), ...spanFrom(values) };
}

function orderOf(values: Values, filter: ReviewFilter): 'due' | 'newest' {
  // A search for closed items in some days, or of one customer, goes by creation time. In the order of deadlines
  // PostgreSQL would first read many closed items outside the search.
  const few = values.status !== 'open' && (filter.since ?? filter.until ?? filter.customerId) !== undefined;
  return values.order === 'newest' || few ? 'newest' : 'due';
}

function emptyWord(values: Values): string {
  const open = values.status === 'open' && Object.keys(values).every((n) => n === 'status' || n === 'order');
  return open
    ? 'Nothing waits for a person. Items come here when money does not fit its invoice, or when Crossbill cannot do something.'
    : 'No review items match these filters.';
}

function noteOf(form: Form): string {
  // A note may have line breaks; the timeline needs one line.
  const note = form.text('note').replace(/\s+/g, ' ').trim();
  if (note !== '' && !isPlainText(note, NOTE_MAX))
    throw invalid('note', `must be text of at most ${NOTE_MAX} characters`);
  return note;
}

function choiceOf(form: Form): { readonly resolution: Resolution; readonly note: string } {
  const resolution = RESOLUTIONS.find((r): r is Resolution => r === form.text('resolution'));
  if (resolution === undefined) throw invalid('resolution', 'must be chosen');
  return { resolution, note: noteOf(form) };
}
