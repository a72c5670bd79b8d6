// The button to report a customer's confirmed payment method.
import { HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { IdPipe } from '../api/http/id.pipe.js';
import { refusalProblem } from '../api/http/problem.js';
import { ConsoleAudit } from '../console/console-audit.js';
import { Page } from '../console/console.guard.js';
import { formOf } from '../console/form.js';
import { Pages } from '../console/pages.js';
import { PaymentMethodsFlow } from './payment-methods.flow.js';

@Pages('console/customers')
export class PaymentMethodPages {
  constructor(
    private readonly flow: PaymentMethodsFlow,
    private readonly audit: ConsoleAudit,
  ) {}

  /** Reports the customer's confirmation of the payment method on the page. A second report changes nothing. */
  @Post(':id/payment-method/confirmed')
  @HttpCode(303)
  @Page('payment_method.confirm', 'ops')
  async confirmed(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    await this.audit.post(
      req,
      res,
      'payment_method.confirm',
      async (by) => {
        const done = await this.flow.confirm(id, formOf(req).text('setup_intent_id') || null, by.name);
        if (!done.ok) throw refusalProblem(done);
        return { id: done.method.id };
      },
      () => `/console/customers/${encodeURIComponent(id)}`,
    );
  }
}
