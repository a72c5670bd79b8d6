// The pages of payments: the list, and one payment with the amount left to refund.
import { Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mayDo } from '../../frames/api/access/roles.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { given } from '../../frames/api/http/page.js';
import { invalid, notFound, valueOrProblem } from '../../frames/api/http/problem.js';
import { PAYMENT_STATUSES, paymentView } from './payment.view.js';
import { isPaymentId, paymentName } from '../../shared/domain/payment-name.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import { type Config, CONFIG } from '../../shared/config/index.js';
import { DecisionContext } from '../../engine/decision-context.js';
import { liveMode } from '../../engine/own-account.js';
import { disputeAct, disputeLink } from '../mor-objects/dispute-link.view.js';
import { paymentSentence } from './payment-sentence.js';
import { actForm, actLink, actRow, fold, headline, outsideLink, stripeUrl } from '../../frames/console/acts.js';
import { PaymentsRepository } from './payments.repository.js';
import { ReadModel, type PaymentView } from '../../engine/read-model.js';
import { refundable } from '../../shared/domain/status.js';
import { PaymentsService } from './payments.service.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { formOf } from '../../frames/console/form.js';
import { type Html, html } from '../../frames/console/html.js';
import { formToken, sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { MONEY_FILTERS, moneyFrom } from '../../frames/console/list-filters.js';
import { CUSTOMER_FILTER, INVOICE_FILTER, chosen, table } from '../../frames/console/list.js';
import {
  amount,
  customerLink,
  facts,
  foreign,
  id,
  invoiceNumberLink,
  section,
  shownOnStripe,
  status,
  time,
  words,
} from '../../frames/console/show.js';
import { proofFacts } from './proof-facts.view.js';
import { type Session } from '../../frames/console/session.js';
import { inputField, type Typed, typedOf } from '../../frames/console/typed.js';
import { refundFields } from '../refunds/refund.fields.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { Finder } from '../../frames/console/finder.js';
import { columnsOf, type Names } from '../../frames/console/fields.js';
import { paymentFields } from './payment.fields.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';

const PATH = '/console/payments';
const FILTERS = [
  { name: 'status', label: 'Status', options: PAYMENT_STATUSES },
  ...MONEY_FILTERS,
  CUSTOMER_FILTER,
  INVOICE_FILTER,
] as const;

@Pages('console/payments')
export class PaymentPages {
  readonly #live: boolean | null;
  readonly #portal: string | null;

  constructor(
    private readonly books: ReadModel,
    private readonly payments: PaymentsRepository,
    private readonly service: PaymentsService,
    private readonly context: DecisionContext,
    private readonly audit: ConsoleAudit,
    private readonly names: CustomerNames,
    private readonly finder: Finder,
    @Inject(CONFIG) config: Config,
  ) {
    this.#live = liveMode(config).expected;
    this.#portal = config.morPortalUrl;
  }

  @Get()
  @Page('payment.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    await sendList(req, res, {
      title: 'Payments',
      section: 'payments',
      path: PATH,
      filters: FILTERS,
      values,
      filter: (v) => ({ ...given({ status: v.status, invoiceId: v.invoice_id }), ...moneyFrom(v) }),
      read: async (filter, page) => viewsOf(await this.payments.list(filter, page), paymentView),
      sums: (filter) => this.payments.sums(filter),
      summed: 'taken',
      caption: 'Newest first',
      fields: ['payments', paymentFields],
      names: this.names,
      find: this.finder,
      empty: {
        filtered: 'No payments match these filters.',
        yet: html`<p>
            Crossbill lists the MoR's payments and failed charges here. None has arrived yet: the MoR reports them with
            <code>payment.*</code> events.
          </p>
          <p>Give the MoR the address <code>/webhooks/mor/payments</code> of this host.</p>`,
      },
    });
  }

  @Get(':id')
  @Page('payment.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) asked: string): Promise<void> {
    const found = await this.books.payment(asked);
    if (found === null) throw notFound('payment');
    const names = await this.names.of([found.payment.customerId]);
    const looker = {
      session: sessionOf(req),
      now: this.context.now().now,
      live: this.#live,
      portal: this.#portal,
      names,
    };
    const objects = await this.books.objects(found.payment.invoiceId);
    const live = { html: paymentPart(found, objects, looker), everySec: 15 };
    const { session } = looker;
    const unnamed = found.payment.paymentId === null && mayDo(session.role, 'ops');
    const after = unnamed ? nameForm(session, found.payment.id, typedOf(req)) : null;
    sendPage(req, res, { title: 'Payment', section: 'payments', body: null, live, after });
  }

  /** A person enters the MoR's id of a payment, because no event brought the id. A refund needs the id. */
  @Post(':id/identify')
  @HttpCode(303)
  @Page('payment.identify', 'ops')
  async identify(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const identify = async (by: Session): Promise<PaymentRow> => {
      const paymentId = formOf(req).text('payment_id').trim();
      if (!isPaymentId(paymentId)) throw invalid('payment_id', "must be the MoR's id of the payment, pay_…");
      return valueOrProblem(await this.service.identify(id, paymentId, by.name));
    };
    const pathOf = (named: PaymentRow): string => `${PATH}/${encodeURIComponent(paymentName(named))}`;
    await this.audit.post(req, res, {
      action: 'payment.identify',
      work: identify,
      pathOf,
      again: () => this.one(req, res, id),
    });
  }
}

type Viewer = {
  readonly session: Session;
  readonly now: Date;
  readonly live: boolean | null;
  /** MOR_PORTAL_URL. */
  readonly portal: string | null;
  readonly names: Names;
};

function paymentPart(payment: PaymentView, objects: readonly MorObjectRow[], looker: Viewer): Html {
  const { payment: p, morCustomerId, refunds, lost } = payment;
  const remaining = refundable(p, refunds, lost);
  const name = paymentName(p);
  const about = html`Invoice ${invoiceNumberLink(p.invoiceId, payment.invoiceNumber)} · customer
  ${customerLink(p.customerId, looker.names.get(p.customerId))} ·
  ${p.succeededAt === null ? html`tried ${time(p.verdictAt ?? p.recordedAt)}` : html`taken ${time(p.succeededAt)}`}`;
  const own = objects.filter((o) => o.paymentRowId === p.id);
  const isBack = own.some((o) => o.kind === 'debit_return' && o.status === 'returned');
  return html`${headline(amount(p.amount, p.currency), status(p.status, 'Payment'), paymentSentence({ payment: p, refunds, objects: own }, looker.now), about)}
  ${paymentActs(payment, own, isBack ? 0n : remaining, looker)}
  ${facts([
    ['Refunded', amount(p.amountRefunded, p.currency)],
    lost === 0n ? null : ['Taken back by the bank', amount(lost, p.currency)],
    ['Can be refunded', amount(isBack ? 0n : remaining, p.currency)],
    ['Shown on Stripe', shownOnStripe(p.mark)],
    ...proofFacts(p),
    ['Origin', words(p.origin)],
    p.declineCode === null ? null : ['Decline code', html`<code>${p.declineCode}</code>`],
    p.failureMessage === null ? null : ['Message from the MoR', foreign(p.failureMessage)],
  ])}
  ${section(
    'Refunds',
    table(
      'Refunds, finished or under way',
      columnsOf(refundFields, undefined, ['invoice_number', 'customer_id']),
      paymentView(payment).refunds,
      'None.',
    ),
  )}
  ${fold(
    'details',
    'Details and ids',
    null,
    facts([
      ['Payment', id(name)],
      ['Invoice', id(p.invoiceId)],
      ['Customer', id(p.customerId)],
      ['Customer at the MoR', id(morCustomerId)],
      ["Processor's charge", id(p.processorChargeId)],
      ["Processor's payment intent", id(p.processorPaymentIntentId)],
      ['Payment record on Stripe', id(p.paymentRecordId)],
    ]),
  )}`;
}

function paymentActs(
  { payment: p }: PaymentView,
  own: readonly MorObjectRow[],
  remaining: bigint,
  looker: Viewer,
): Html | null {
  const { session, live, portal } = looker;
  const ops = mayDo(session.role, 'ops');
  const path = `${PATH}/${encodeURIComponent(paymentName(p))}`;
  const back = own.find((o) => o.kind === 'debit_return' && o.status === 'returned');
  return actRow([
    ops && remaining > 0n && p.paymentId !== null ? actLink(`${path}/refund`, 'Refund…') : null,
    ops && back !== undefined
      ? actForm(session, `${path}/returned/undo`, 'Undo the returned debit', { key: `con-undo-${back.id}` })
      : null,
    ...own.flatMap((o) => [disputeAct(o), disputeLink(o, portal)]),
    outsideLink(stripeUrl(live, 'invoices', p.invoiceId), 'Open the invoice in Stripe'),
    ops && remaining > 0n ? actLink(`${path}/returned`, 'Record a returned debit…') : null,
  ]);
}

function nameForm(session: Session, id: string, typed: Typed): Html {
  return html`<form class="card" action="${PATH}/${encodeURIComponent(id)}/identify" method="post">
    ${formToken(session)}
    ${inputField(
      typed,
      {
        name: 'payment_id',
        label: "The MoR's id of this payment",
        hint: "A refund needs this id, and no event of the MoR has brought it yet. The MoR's portal shows it.",
      },
      html`required autocomplete="off"`,
    )}
    <p class="buttons"><button>Save the id</button></p>
  </form>`;
}
