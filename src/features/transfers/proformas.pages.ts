// The page to request a proforma invoice.
import { isDay } from '@crossbill/mor/shape.js';
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
import { DecisionContext } from '../../engine/decision-context.js';
import { DAY_MS } from '../../shared/policy.js';
import { whyNotNow } from '../../core/mor-objects/rules/request.js';
import { ProformasService } from './proformas.service.js';

/** The usual time to pay for a business customer. The form suggests this term; a person can choose another day. */
const USUAL_TERM_DAYS = 14;

@Pages('console/invoices')
export class ProformaPages {
  constructor(
    private readonly books: ReadModel,
    private readonly service: ProformasService,
    private readonly context: DecisionContext,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get(':id/proforma')
  @Page('proforma.create', 'ops')
  async ask(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    const found = await this.books.invoice(id);
    if (found === null) throw notFound('invoice');
    const { now, settings } = this.context.now();
    const why = whyNotNow(found, now);
    if (why !== null) {
      const body = html`<p class="message bad" role="alert">
          Crossbill issues no proforma invoice now: <bdi>${why}</bdi>.
        </p>
        <p><a href="/console/invoices/${encodeURIComponent(id)}">Back to the invoice</a></p>`;
      return sendPage(req, res, { title: 'Issue a proforma invoice', section: 'invoices', body });
    }
    const country = found.invoice.customerCountry ?? settings.recoveryLinks?.jurisdiction ?? '';
    const body = wishForm(sessionOf(req), found, { country, now, typed: typedOf(req) });
    sendPage(req, res, { title: 'Issue a proforma invoice', section: 'invoices', body });
  }

  @Post(':id/proforma')
  @HttpCode(303)
  @Page('proforma.create', 'ops')
  async create(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    await this.audit.post(req, res, {
      action: 'proforma.create',
      work: (by) => {
        const form = formOf(req);
        const wish = {
          jurisdiction: form.text('jurisdiction').trim().toUpperCase(),
          due_date: form.text('due_date').trim(),
        };
        if (!isDay(wish.due_date)) throw invalid('due_date', 'must be a day as YYYY-MM-DD');
        const name = requestName(by, `/v1/invoices/${id}/proforma`, formKey(form), wish);
        return this.service.create(id, wish, by.name, name);
      },
      pathOf: () => `/console/invoices/${encodeURIComponent(id)}`,
      again: () => this.ask(req, res, id),
    });
  }
}

function wishForm(
  session: Session,
  { invoice: i }: InvoiceView,
  { country, now, typed }: { readonly country: string; readonly now: Date; readonly typed: Typed },
): Html {
  const path = `/console/invoices/${encodeURIComponent(i.invoiceId)}`;
  const day = (days: number): string => new Date(now.getTime() + days * DAY_MS).toISOString().slice(0, 10);
  return html`${facts([
      ['To pay', amount(i.amountRemaining, i.currency)],
      ['Invoice', invoiceLink(i.invoiceId)],
    ])}
    <form class="card" action="${path}/proforma" method="post">
      ${requestFields(session, typed)}
      ${countryField(typed, 'Country', 'Two letters, such as GB. The country sets the tax law and the currency of the proforma invoice.', country)}
      ${inputField(
        typed,
        { name: 'due_date', label: 'To be paid by' },
        html`type="date" required min="${day(0)}"`,
        day(USUAL_TERM_DAYS),
      )}
      <p class="buttons">
        <button>Issue the proforma invoice</button>
        <a href="${path}">Cancel</a>
      </p>
      <p class="hint">
        For a customer who pays by bank transfer. Name and address of the customer come from Stripe. If one is missing
        there, Crossbill names it and issues nothing.
      </p>
    </form>`;
}
