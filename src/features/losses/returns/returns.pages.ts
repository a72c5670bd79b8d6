// The page to record a returned debit, and the button to undo the record.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { IdPipe } from '../../../frames/api/http/id.pipe.js';
import { paymentRequestName } from '../../../frames/api/http/idempotency.js';
import { invalid, notFound, valueOrProblem } from '../../../frames/api/http/problem.js';
import { isPlainText } from '../../../frames/api/http/rules.js';
import { ConsoleAudit } from '../../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../../frames/console/console.guard.js';
import { requestFields } from '../../../frames/console/form-fields.js';
import { inputField, type Typed, typedOf } from '../../../frames/console/typed.js';
import { formKey, formOf } from '../../../frames/console/form.js';
import { type Html, html } from '../../../frames/console/html.js';
import { sendPage } from '../../../frames/console/layout.js';
import { Pages } from '../../../frames/console/pages.js';
import { type Session } from '../../../frames/console/session.js';
import { amount, facts, invoiceLink, paymentLink } from '../../../frames/console/show.js';
import { ReadModel } from '../../../engine/read-model.js';
import { type PaymentView } from '../../../engine/read-model.js';
import { refundable } from '../../../shared/domain/status.js';
import { paymentName } from '../../../shared/domain/payment-name.js';
import { ReturnsService } from './returns.service.js';
import { readDay } from '../../../shared/domain/day.js';

@Pages('console/payments')
export class ReturnPages {
  constructor(
    private readonly books: ReadModel,
    private readonly service: ReturnsService,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get(':id/returned')
  @Page('payment.returned', 'ops')
  async ask(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const found = await this.books.payment(id);
    if (found === null) throw notFound('payment');
    const body = returnForm(sessionOf(req), found, typedOf(req));
    sendPage(req, res, { title: 'Record a returned debit', section: 'payments', body });
  }

  @Post(':id/returned')
  @HttpCode(303)
  @Page('payment.returned', 'ops')
  async record(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    await this.audit.post(req, res, {
      action: 'payment.returned',
      work: async (by) => {
        const form = formOf(req);
        const reference = form.text('reference').trim();
        if (reference !== '' && !isPlainText(reference))
          throw invalid('reference', 'must be one line of at most 255 characters');
        const day = form.text('returned_on').trim();
        const on = day === '' ? null : readDay(day);
        if (on === null && day !== '') throw invalid('returned_on', 'must be a day such as 2026-11-24');
        const body = { ...(reference === '' ? {} : { reference }), ...(day === '' ? {} : { returned_on: day }) };
        const word = { by: by.name, reference: reference === '' ? null : reference, on };
        return valueOrProblem(await this.service.record(id, word, paymentRequestName(by, formKey(form), body)));
      },
      pathOf: (made) => `/console/invoices/${encodeURIComponent(made.invoiceId)}`,
      again: () => this.ask(req, res, id),
    });
  }

  @Post(':id/returned/undo')
  @HttpCode(303)
  @Page('payment.returned.undo', 'ops')
  async undo(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    await this.audit.post(req, res, {
      action: 'payment.returned.undo',
      work: async (by) =>
        valueOrProblem(await this.service.undo(id, by.name, paymentRequestName(by, formKey(formOf(req)), {}))),
      pathOf: (made) => `/console/invoices/${encodeURIComponent(made.invoiceId)}`,
      again: null,
    });
  }
}

function returnForm(session: Session, { payment: p, refunds, lost }: PaymentView, typed: Typed): Html {
  const path = `/console/payments/${encodeURIComponent(paymentName(p))}`;
  return html`${facts([
      ['The bank took back', amount(refundable(p, refunds, lost), p.currency)],
      ['Payment', paymentLink(paymentName(p))],
      ['Invoice', invoiceLink(p.invoiceId)],
    ])}
    <form class="card" action="${path}/returned" method="post">
      ${requestFields(session, typed)}
      ${inputField(
        typed,
        {
          name: 'reference',
          label: 'Where you saw the return',
          hint: 'For example the MoR’s portal, or a line of a bank statement. May be left empty.',
        },
        html`maxlength="255" autocomplete="off"`,
      )}
      ${inputField(
        typed,
        {
          name: 'returned_on',
          label: 'The day the bank took the money back',
          hint: 'The loss counts in its month. Left empty: today.',
        },
        html`type="date"`,
      )}
      <p class="buttons">
        <button class="danger">Record the return</button>
        <a href="/console/invoices/${encodeURIComponent(p.invoiceId)}">Cancel</a>
      </p>
      <p class="hint">
        The ledger books the rest of the payment as lost, and a review item asks about the invoice. Crossbill changes
        nothing on Stripe or at the MoR. You can undo the record.
      </p>
    </form>`;
}
