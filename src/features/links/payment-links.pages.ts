// The console page to request a payment link.
import { Finder } from '../../frames/console/finder.js';
import { Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { InvoiceIdPipe } from '../../frames/api/http/id.pipe.js';
import { requestName } from '../../frames/api/http/idempotency.js';
import { invalid, notFound } from '../../frames/api/http/problem.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { countryField, hiddenFields, requestFields } from '../../frames/console/form-fields.js';
import { inputField, type Typed, typedOf } from '../../frames/console/typed.js';
import { formKey, formOf } from '../../frames/console/form.js';
import { type Html, html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { type Session } from '../../frames/console/session.js';
import { amount, facts, invoiceLink } from '../../frames/console/show.js';
import { ReadModel } from '../../engine/read-model.js';
import { type InvoiceView } from '../../engine/read-model.js';
import { DecisionContext } from '../../engine/decision-context.js';
import { DAY_MS } from '../../shared/policy.js';
import { CONFIG, type Config } from '../../shared/config/index.js';
import { payableLink } from '../../core/invoices/invoice-acts.js';
import { whyNotNow } from '../../core/mor-objects/rules/request.js';
import { inYourShop, letterPart } from './ask-card-page.js';
import { PaymentLinksService } from './payment-links.service.js';

const DAYS_MOST = 365;
/** The page after a link made by the form of this page. */
const ASK_CARD = 'ask-card';

type Defaults = { readonly jurisdiction: string; readonly returnUrl: string };

@Pages('console/invoices')
export class PaymentLinkPages {
  constructor(
    private readonly books: ReadModel,
    private readonly service: PaymentLinksService,
    private readonly context: DecisionContext,
    private readonly audit: ConsoleAudit,
    private readonly customers: Finder,
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'recoveryLinkJurisdiction' | 'recoveryLinkReturnUrl' | 'consoleUrl'>,
  ) {}

  @Get(':id/payment-link')
  @Page('payment_link.create', 'ops')
  async ask(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    const found = await this.books.invoice(id);
    if (found === null) throw notFound('invoice');
    const body = this.formOrWhy(req, found, '');
    sendPage(req, res, { title: 'Create a payment link', section: 'invoices', body });
  }

  /** The text that asks the customer for another card, with a payment link. Without a link: the form for one. */
  @Get(':id/ask-card')
  @Page('payment_link.create', 'ops')
  async askCard(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    const found = await this.books.invoice(id);
    if (found === null) throw notFound('invoice');
    const link = payableLink(found, this.context.now().now);
    const customerId = found.invoice.customerId ?? '';
    const body =
      link === undefined || link.url === null
        ? html`<p>The customer pays with another card by a payment link. Crossbill then shows the text to send.</p>
            ${this.formOrWhy(req, found, ASK_CARD)}${inYourShop(found)}`
        : letterPart(found, link, await this.customers.read(customerId));
    sendPage(req, res, { title: 'Ask for another card', section: 'invoices', body });
  }

  private formOrWhy(req: Request, found: InvoiceView, next: string): Html {
    const why = whyNotNow(found, this.context.now().now);
    if (why !== null)
      return html`<p class="message bad" role="alert">Crossbill makes no link now: <bdi>${why}</bdi>.</p>
        <p><a href="/console/invoices/${encodeURIComponent(found.invoice.invoiceId)}">Back to the invoice</a></p>`;
    return wishForm(sessionOf(req), found, { defaults: this.defaults(), next }, typedOf(req));
  }

  /** What the form proposes: the settings, one by one. */
  private defaults(): Defaults {
    const { recoveryLinkJurisdiction: jurisdiction, recoveryLinkReturnUrl: returnUrl } = this.config;
    return { jurisdiction: jurisdiction ?? '', returnUrl: returnUrl ?? this.config.consoleUrl ?? '' };
  }

  @Post(':id/payment-link')
  @HttpCode(303)
  @Page('payment_link.create', 'ops')
  async create(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    await this.audit.post(req, res, {
      action: 'payment_link.create',
      work: (by) => {
        const form = formOf(req);
        const days = Number(form.text('days'));
        if (!Number.isInteger(days) || days < 1 || days > DAYS_MOST)
          throw invalid('days', `must be a whole number from 1 to ${DAYS_MOST}`);
        const wish = {
          jurisdiction: form.text('jurisdiction').trim().toUpperCase(),
          return_url: form.text('return_url').trim(),
          expires_in: (days * DAY_MS) / 1000,
        };
        const name = requestName(by, `/v1/invoices/${id}/payment-link`, formKey(form), wish);
        return this.service.create(id, wish, by.name, name);
      },
      pathOf: () =>
        `/console/invoices/${encodeURIComponent(id)}${formOf(req).text('next') === ASK_CARD ? '/ask-card' : ''}`,
      again: () => (formOf(req).text('next') === ASK_CARD ? this.askCard(req, res, id) : this.ask(req, res, id)),
    });
  }
}

function wishForm(
  session: Session,
  { invoice: i }: InvoiceView,
  { defaults, next }: { readonly defaults: Defaults; readonly next: string },
  typed: Typed,
): Html {
  const path = `/console/invoices/${encodeURIComponent(i.invoiceId)}`;
  return html`${facts([
      ['Amount due', amount(i.amountRemaining, i.currency)],
      ['Invoice', invoiceLink(i.invoiceId)],
    ])}
    <form class="card" action="${path}/payment-link" method="post">
      ${requestFields(session, typed)}${hiddenFields(next === '' ? {} : { next })}
      ${countryField(typed, 'Country of the customer', 'Two letters, such as GB. The country sets the tax law.', i.customerCountry ?? defaults.jurisdiction)}
      ${inputField(
        typed,
        {
          name: 'return_url',
          label: 'Where the customer goes after paying',
          hint: 'An https address of yours. A visit there proves no payment.',
        },
        html`type="url" required maxlength="2048"`,
        defaults.returnUrl,
      )}
      ${inputField(
        typed,
        { name: 'days', label: 'Days until the link expires', also: ['expires_in'] },
        html`type="number" required min="1" max="${DAYS_MOST}"`,
        '7',
      )}
      <p class="buttons">
        <button>Create the link</button>
        <a href="${path}">Cancel</a>
      </p>
      <p class="hint">
        Crossbill writes to nobody: copy the link and send it yourself. While the customer can pay a link, Crossbill
        makes no second one.
      </p>
    </form>`;
}
