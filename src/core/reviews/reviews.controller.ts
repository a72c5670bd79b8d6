// Review items: work for a person, and the person's choice.
import { REVIEW_KINDS } from './rules/impact.js';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RESOLUTIONS, type ReviewRow } from '../../shared/domain/review-row.js';
import { ReviewsRepository, REVIEW_ORDERS } from './reviews.repository.js';
import { ReadModel } from '../../engine/read-model.js';
import { ReviewsService } from './reviews.service.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { Example, Problems, Text } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { CustomerFilter, Since, spanOf, Until } from '../../frames/api/http/filters.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { notFound, valueOrProblem } from '../../frames/api/http/problem.js';
import { Filter, IsOneOf, IsText, MayBeAbsent, NOTE_MAX } from '../../frames/api/http/rules.js';
import { REVIEW_STATUSES, ReviewView, reviewView } from './review.view.js';

class ReviewsQuery extends PageQuery {
  @Filter('Only this status.', REVIEW_STATUSES) status?: string;
  @Filter('Only this kind.', REVIEW_KINDS) kind?: string;
  @Filter("Only this invoice's.") invoice_id?: string;
  @Since('when it was opened') since?: string;
  @Until() until?: string;
  @CustomerFilter() customer?: string;
  @Filter('`due`: soonest `due_at` first, then items without one. Default: `newest`.', REVIEW_ORDERS) order?: string;
}

class ResolveReviewDto {
  @Example('dismiss')
  @Text('One of the item’s `actions`.')
  @IsOneOf(RESOLUTIONS)
  resolution!: (typeof RESOLUTIONS)[number];

  @Example('The customer pays by transfer.')
  @Text('Why; people will read it later.')
  @MayBeAbsent()
  @IsText(NOTE_MAX)
  note?: string;
}

@ApiTags('Reviews')
@Controller('v1/reviews')
export class ReviewsController {
  constructor(
    private readonly books: ReadModel,
    private readonly reviews: ReviewsRepository,
    private readonly service: ReviewsService,
  ) {}

  @Get()
  @MayRead('read', 'review.list')
  @ApiOperation({ operationId: 'listReviews', summary: 'Review items, newest first or by deadline (role: read)' })
  @ApiOkResponse({ type: pageOf(ReviewView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: ReviewsQuery): Promise<PageView<ReviewView>> {
    const by = { status: query.status, kind: query.kind, invoiceId: query.invoice_id, customerId: query.customer };
    const filter = { ...by, ...spanOf(query) };
    const page = await this.reviews.list(filter, pageRequest(query), query.order === 'due' ? 'due' : 'newest');
    const names = await this.namesOf(page.data);
    return pageView(page, (r) => reviewView(r, names));
  }

  @Get(':id')
  @MayRead('read', 'review.read')
  @ApiOperation({ operationId: 'getReview', summary: 'A review item (role: read)' })
  @ApiOkResponse({ type: ReviewView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<ReviewView> {
    const review = await this.reviews.find(id);
    if (review === null) throw notFound('review item');
    return reviewView(review, await this.namesOf([review]));
  }

  @Post(':id/resolve')
  @HttpCode(200)
  @MayChange('ops', 'review.resolve', { outside: false }) // in shadow mode the engine refuses a choice that sends something
  @ApiOperation({
    operationId: 'resolveReview',
    summary: 'Resolve a review item (role: ops)',
    description:
      '`apply`: accept the money for the invoice. For a `refund_stuck` item: the MoR told you that the refund failed, so free its amount (a note is required). `refund`: refund the payment. `retry`: look, send or wait again. `credit`: show a loss (a lost dispute, a returned debit) on Stripe as a credit note. `dismiss`: close the item, and nothing more.',
  })
  @ApiOkResponse({ type: ReviewView })
  @Problems({
    400: '`invalid_request`, `note_required`',
    404: '`not_found`',
    409: '`review_already_resolved`, `resolution_not_available`, `newer_format` (a newer release made the item), `refund_being_sent`, `refund_answered` (Crossbill does not send the request again), `request_erased`, `credit_not_available` (nothing is left to credit, or not safely), `charge_already_used`, `payment_disputed` (refund the payment itself, with `despite_dispute`), or the reason against the chosen refund.',
    422: '`payment_not_refundable`',
  })
  async resolve(
    @Param('id', IdPipe) id: string,
    @Body() dto: ResolveReviewDto,
    @CurrentCaller() caller: Caller,
  ): Promise<ReviewView> {
    const choice = { resolution: dto.resolution, note: dto.note ?? null, by: caller.name };
    const review = valueOrProblem(await this.service.resolve(id, choice));
    return reviewView(review, await this.namesOf([review]));
  }

  private namesOf(reviews: readonly ReviewRow[]): Promise<ReadonlyMap<string, string>> {
    return this.books.paymentNames(reviews.flatMap((r) => r.paymentRowId ?? []));
  }
}
