// The page to report a customer's confirmed payment method.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { Problem, refusalProblem } from '../../frames/api/http/problem.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { formOf } from '../../frames/console/form.js';
import { sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { DecisionContext } from '../../engine/decision-context.js';
import { confirmPart, findToReport } from './methods-part.js';
import { PaymentMethodsService } from './payment-methods.service.js';
import { PaymentMethodsRepository } from './payment-methods.repository.js';

@Pages('console/customers')
export class PaymentMethodPages {
  constructor(
    private readonly service: PaymentMethodsService,
    private readonly methods: PaymentMethodsRepository,
    private readonly context: DecisionContext,
    private readonly audit: ConsoleAudit,
  ) {}

  /** The report has the MoR charge refused renewals, so this page asks first. */
  @Get(':id/payment-method/confirmed')
  @Page('payment_method.confirm', 'ops')
  async ask(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) customerId: string): Promise<void> {
    const { relay } = this.context.settings;
    const methods = (await this.methods.of([customerId])).get(customerId) ?? [];
    const refused = await this.methods.refusedRenewals(customerId);
    const shown = { customerId, methods, refused, relay: relay !== null, session: sessionOf(req) };
    const method = findToReport(shown);
    if (method === null)
      throw new Problem(409, 'payment_method_missing', 'No payment method of this customer waits for a confirmation.');
    const body = confirmPart(method, shown);
    sendPage(req, res, { title: 'Confirm the payment method', section: 'customers', body });
  }

  /** Reports the customer's confirmation of the payment method on the page. A second report changes nothing. */
  @Post(':id/payment-method/confirmed')
  @HttpCode(303)
  @Page('payment_method.confirm', 'ops')
  async confirmed(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    await this.audit.post(req, res, {
      action: 'payment_method.confirm',
      work: async (by) => {
        const done = await this.service.confirm(id, formOf(req).text('setup_intent_id') || null, by.name);
        if (!done.ok) throw refusalProblem(done);
        return { id: done.method.id };
      },
      pathOf: () => `/console/customers/${encodeURIComponent(id)}`,
      again: () => this.ask(req, res, id),
    });
  }
}
