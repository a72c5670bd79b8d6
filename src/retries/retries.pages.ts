// The console's button to retry a refused renewal.
import { HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { InvoiceIdPipe } from '../api/http/id.pipe.js';
import { requestName } from '../api/http/idempotency.js';
import { ConsoleAudit } from '../console/console-audit.js';
import { Page } from '../console/console.guard.js';
import { formKey, formOf } from '../console/form.js';
import { Pages } from '../console/pages.js';
import { retriedOrProblem } from './retried.view.js';
import { RetriesFlow } from './retries.flow.js';

@Pages('console/invoices')
export class RetryPages {
  constructor(
    private readonly flow: RetriesFlow,
    private readonly audit: ConsoleAudit,
  ) {}

  /** One form makes one retry, even if the browser sends it twice. */
  @Post(':id/retry')
  @HttpCode(303)
  @Page('invoice.retry', 'ops')
  async retry(@Req() req: Request, @Res() res: Response, @Param('id', InvoiceIdPipe) id: string): Promise<void> {
    await this.audit.post(
      req,
      res,
      'invoice.retry',
      async (by) => {
        const name = requestName(by, `/v1/invoices/${id}/retry`, formKey(formOf(req)), {});
        return retriedOrProblem(await this.flow.retry(id, by.name, name));
      },
      () => `/console/invoices/${encodeURIComponent(id)}`,
    );
  }
}
