// The console's page to retry a refused renewal: what the retry does, and the button.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { InvoiceIdPipe } from '../../frames/api/http/id.pipe.js';
import { requestName } from '../../frames/api/http/idempotency.js';
import { notFound, valueOrProblem } from '../../frames/api/http/problem.js';
import { confirmForm } from '../../frames/console/acts.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { CustomerNames } from '../../frames/console/customer-names.js';
import { formKey, formOf } from '../../frames/console/form.js';
import { html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { amount, customerLink, facts, invoiceNumberLink } from '../../frames/console/show.js';
import { DecisionContext } from '../../engine/decision-context.js';
import { ReadModel } from '../../engine/read-model.js';
import { retriedOrProblem } from './retried.view.js';
import { RetriesService } from './retries.service.js';
import { offerRetry } from './rules/decide-retry.js';
import { refuseRetry } from './rules/retry.js';

const pathOf = (id: string): string => `/console/invoices/${encodeURIComponent(id)}`;

@Pages('console/invoices')
export class RetryPages {
  constructor(
    private readonly books: ReadModel,
    private readonly context: DecisionContext,
    private readonly service: RetriesService,
    private readonly audit: ConsoleAudit,
    private readonly names: CustomerNames,
  ) {}

  /** A retry takes the customer's money, so this page asks first. */
  @Get(':id/retry')
  @Page('invoice.retry', 'ops')
  async ask(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    const found = await this.books.invoice(id);
    if (found === null) throw notFound('invoice');
    const state = { ...found, lane: id, entries: [] };
    const { means, why } = offerRetry(state, this.context.now());
    if (means === null) return valueOrProblem(refuseRetry(why));
    const { customerId, number, amountRemaining, currency, retries } = found.invoice;
    const due = amount(amountRemaining, currency);
    const names = await this.names.of(customerId === null ? [] : [customerId]);
    const isCharge = means === 'charge';
    // One form makes one retry, and so do two people on this page: the key has the number of the next retry.
    const fields = { key: `con-retry-${(retries?.retries.length ?? 0) + 1}` };
    const act = {
      action: `${pathOf(id)}/retry`,
      label: isCharge ? 'Charge now' : 'Make the payment link now',
      back: pathOf(id),
    };
    const body = html`<p>
        ${
          isCharge
            ? html`The MoR will charge the customer's saved method: <strong>${due}</strong>, unless Stripe shows another
                amount by then.`
            : html`Crossbill will make a payment link of <strong>${due}</strong>. The customer decides whether to pay
                it.`
        }
      </p>
      ${facts([
        ['Amount due', due],
        ['Customer', customerLink(customerId, names.get(customerId ?? ''))],
        ['Invoice', invoiceNumberLink(id, number)],
      ])}
      ${confirmForm(sessionOf(req), act, fields)}`;
    sendPage(req, res, { title: isCharge ? 'Charge again' : 'Retry by payment link', section: 'invoices', body });
  }

  /** One form makes one retry, even if the browser sends it twice. */
  @Post(':id/retry')
  @HttpCode(303)
  @Page('invoice.retry', 'ops')
  async retry(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    await this.audit.post(req, res, {
      action: 'invoice.retry',
      work: async (by) => {
        const name = requestName(by, `/v1/invoices/${id}/retry`, formKey(formOf(req)), {});
        return retriedOrProblem(await this.service.retry(id, by.name, name));
      },
      pathOf: () => pathOf(id),
      again: () => this.ask(req, res, id),
    });
  }
}
