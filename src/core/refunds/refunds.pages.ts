// The pages of refunds: the list, one refund, and the three steps of a new refund: amount, confirmation, result.
import { Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { paymentRequestName } from '../../frames/api/http/idempotency.js';
import { invalid, notFound, Problem, valueOrProblem } from '../../frames/api/http/problem.js';
import { isPlainText } from '../../frames/api/http/rules.js';
import { amountOf } from '../../frames/api/http/values.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { refundMoves, type RefundRow } from '../../shared/domain/refund-row.js';
import { decimalFromMinor, showMoney } from '../../shared/domain/money.js';
import { RefundsRepository } from './refunds.repository.js';
import { ReadModel } from '../../engine/read-model.js';
import { mayDo } from '../../frames/api/access/roles.js';
import { type Config, CONFIG } from '../../shared/config/index.js';
import { liveMode } from '../../engine/own-account.js';
import { refundable } from '../../shared/domain/status.js';
import { RefundReplies } from './refund-replies.js';
import { RefundsService } from './refunds.service.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { type Form, formKey, formOf } from '../../frames/console/form.js';
import { orAgain, typedOf } from '../../frames/console/typed.js';
import { html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { type Session } from '../../frames/console/session.js';
import { Pages } from '../../frames/console/pages.js';
import { CUSTOMER_FILTER, INVOICE_FILTER, chosen } from '../../frames/console/list.js';
import {
  aboutPayment,
  type Asked,
  amountStep,
  confirmStep,
  DESPITE,
  type Refundable,
  refundPart,
} from './refund-page.js';
import { typedAmount } from './typed-amount.js';
import { CONSOLE_TIMEOUT_MS } from '../../shared/policy.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { refundFields } from './refund.fields.js';
import { listedRefundView } from './refund.view.js';
import { MONEY_FILTERS, moneyFrom } from '../../frames/console/list-filters.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';

const PATH = '/console/refunds';
const FILTERS = [
  { name: 'status', label: 'Status', options: Object.keys(refundMoves) },
  ...MONEY_FILTERS,
  CUSTOMER_FILTER,
  INVOICE_FILTER,
] as const;

const SETTLED = new Set(['succeeded', 'failed']);

@Pages('console')
export class RefundPages {
  readonly #live: boolean | null;

  constructor(
    private readonly books: ReadModel,
    private readonly refunds: RefundsRepository,
    private readonly service: RefundsService,
    private readonly replies: RefundReplies,
    private readonly audit: ConsoleAudit,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    @Inject(CONFIG) config: Config,
  ) {
    this.#live = liveMode(config).expected;
  }

  @Get('refunds')
  @Page('refund.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    await sendList(req, res, {
      title: 'Refunds',
      section: 'refunds',
      path: PATH,
      filters: FILTERS,
      values,
      filter: (v) => ({
        statuses: v.status === undefined ? undefined : [v.status],
        invoiceId: v.invoice_id,
        ...moneyFrom(v),
      }),
      read: async (filter, page) => viewsOf(await this.refunds.list(filter, page), listedRefundView),
      sums: (filter) => this.refunds.sums(filter),
      summed: 'refunded or not',
      caption: 'Newest first',
      fields: ['refunds', refundFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No refunds match these filters.',
        yet: html`Each refund appears here, from its request on. To make the first one, open a
          <a href="/console/payments?status=succeeded">payment</a>.`,
      },
    });
  }

  @Get('refunds/:id')
  @Page('refund.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const found = await this.books.refund(id);
    if (found === null) throw notFound('refund');
    const isIdle = SETTLED.has(found.refund.status) && ['done', 'not_needed', 'none'].includes(found.refund.mirror);
    const names = await this.names.of([found.payment.customerId]);
    const who = { ops: mayDo(sessionOf(req).role, 'ops'), live: this.#live, names };
    const live = { html: refundPart(found, who), everySec: isIdle ? 30 : 3 };
    sendPage(req, res, { title: 'Refund', section: 'refunds', body: null, live });
  }

  @Get('payments/:id/refund')
  @Page('refund.create', 'ops')
  async ask(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const body = amountStep(sessionOf(req), await this.refundable(id), typedOf(req));
    sendPage(req, res, { title: 'Refund a payment', section: 'payments', body });
  }

  @Post('payments/:id/refund')
  @HttpCode(200)
  @Page('refund.create', 'ops')
  async confirm(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const confirm = async (): Promise<void> => {
      const refundable = await this.refundable(id);
      const { payment, rest: remaining } = refundable;
      const asked = askedOf(formOf(req), payment);
      if (asked.minor > remaining)
        throw invalid('amount', `must be at most ${showMoney({ ...payment, minor: remaining })}`);
      const body = confirmStep(sessionOf(req), refundable, asked);
      sendPage(req, res, { title: 'Confirm the refund', section: 'payments', body });
    };
    await orAgain(req, confirm, () => this.ask(req, res, id));
  }

  /** One form makes one refund, even if the browser sends the form twice: the form has the key of its request. */
  @Post('payments/:id/refunds')
  @HttpCode(303)
  @Page('refund.create', 'ops')
  async create(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const refund = async (by: Session): Promise<RefundRow> => {
      const found = await this.books.payment(id);
      if (found === null) throw notFound('payment');
      const form = formOf(req);
      const { minor, reason, key } = askedOf(form, found.payment);
      const why = reason === '' ? null : reason;
      const despiteDispute = form.text(DESPITE) !== '';
      const request = { amount: minor, reason: why, metadata: null, by: by.name, despiteDispute };
      const body = { amount: amountOf(minor), ...(reason === '' ? {} : { reason }) };
      const made = valueOrProblem(
        await this.service.request(found.payment.id, request, paymentRequestName(by, key, body)),
      );
      return (await this.replies.of(made.id, CONSOLE_TIMEOUT_MS)).refund;
    };
    const pathOf = (made: RefundRow): string => `${PATH}/${encodeURIComponent(made.id)}`;
    await this.audit.post(req, res, {
      action: 'refund.create',
      work: refund,
      pathOf,
      again: () => this.ask(req, res, id),
    });
  }

  private async refundable(id: string): Promise<Refundable> {
    const found = await this.books.payment(id);
    if (found === null) throw notFound('payment');
    const remaining = refundable(found.payment, found.refunds, found.lost);
    if (remaining === 0n || found.payment.paymentId === null) {
      throw new Problem(422, 'payment_not_refundable', 'Nothing is left to refund, or the payment has no pay_… id.');
    }
    const { payment, invoiceNumber, disputes } = found;
    return {
      payment,
      rest: remaining,
      disputes,
      about: aboutPayment(payment, invoiceNumber, await this.names.of([payment.customerId])),
    };
  }
}

/** Reads the form. Throws 400 if the amount is 0 or no plain decimal, or if the reason is not one line of text. */
function askedOf(form: Form, payment: PaymentRow): Asked {
  const minor = typedAmount(form.text('amount'), payment.currency);
  if (minor === null || minor === 0n) {
    throw invalid(
      'amount',
      `must be an amount of ${payment.currency} in plain digits, such as ${decimalFromMinor(1000n, payment.currency)}`,
    );
  }
  const reason = form.text('reason');
  if (reason !== '' && !isPlainText(reason)) throw invalid('reason', 'must be one line of at most 255 characters');
  return { minor, reason, key: formKey(form) };
}
