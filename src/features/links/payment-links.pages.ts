// The console page to request a payment link.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { InvoiceIdPipe } from '../../frames/api/http/id.pipe.js';
import { requestName } from '../../frames/api/http/idempotency.js';
import { invalid, notFound } from '../../frames/api/http/problem.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { countryField, requestFields } from '../../frames/console/form-fields.js';
import { inputField, type Typed, typedOf } from '../../frames/console/typed.js';
import { formKey, formOf } from '../../frames/console/form.js';
import { type Html, html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { type Session } from '../../frames/console/session.js';
import { amount, facts, invoiceLink } from '../../frames/console/show.js';
import { ReadModel } from '../../engine/read-model.js';
import { type InvoiceView } from '../../engine/read-model.js';
import { type FlowSettings } from '../../shared/domain/settings.js';
import { FlowContext } from '../../engine/flow-context.js';
import { DAY_MS } from '../../shared/policy.js';
import { PaymentLinksFlow } from './payment-links.flow.js';

const DAYS_MOST = 365;

@Pages('console/invoices')
export class PaymentLinkPages {
  constructor(
    private readonly books: ReadModel,
    private readonly flow: PaymentLinksFlow,
    private readonly context: FlowContext,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get(':id/payment-link')
  @Page('payment_link.create', 'ops')
  async ask(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    const found = await this.books.invoice(id);
    if (found === null) throw notFound('invoice');
    const body = wishForm(sessionOf(req), found, this.context.settings.recoveryLinks, typedOf(req));
    sendPage(req, res, { title: 'Create a payment link', section: 'invoices', body });
  }

  @Post(':id/payment-link')
  @HttpCode(303)
  @Page('payment_link.create', 'ops')
  async create(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    await this.audit.post(
      req,
      res,
      'payment_link.create',
      (by) => {
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
        return this.flow.create(id, wish, by.name, name);
      },
      () => `/console/invoices/${encodeURIComponent(id)}`,
      () => this.ask(req, res, id),
    );
  }
}

function wishForm(
  session: Session,
  { invoice: i }: InvoiceView,
  defaults: FlowSettings['recoveryLinks'],
  typed: Typed,
): Html {
  const path = `/console/invoices/${encodeURIComponent(i.invoiceId)}`;
  return html`${facts([
      ['Amount due', amount(i.amountRemaining, i.currency)],
      ['Invoice', invoiceLink(i.invoiceId)],
    ])}
    <form class="card" action="${path}/payment-link" method="post">
      ${requestFields(session, typed)}
      ${countryField(typed, 'Country of the customer', 'Two letters, such as GB. The country sets the tax law.', i.customerCountry ?? defaults?.jurisdiction ?? '')}
      ${inputField(
        typed,
        {
          name: 'return_url',
          label: 'Where the customer goes after paying',
          hint: 'An https address of yours. A visit there proves no payment.',
        },
        html`type="url" required maxlength="2048"`,
        defaults?.returnUrl,
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
