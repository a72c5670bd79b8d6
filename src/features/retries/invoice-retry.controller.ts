// The API's route to retry a failed renewal now, without the schedule's wait.
import { Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { MayChange } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { KeyHeader, Problems } from '../../frames/api/http/docs.js';
import { InvoiceIdPipe } from '../../frames/api/http/id.pipe.js';
import { idempotencyKey, requestName } from '../../frames/api/http/idempotency.js';
import { notFound } from '../../frames/api/http/problem.js';
import { InvoiceView } from '../../core/invoices/invoice.view.js';
import { InvoiceViews } from '../../core/invoices/invoice-views.service.js';
import { retriedOrProblem } from './retried.view.js';
import { RetriesService } from './retries.service.js';

@ApiTags('Invoices')
@Controller('v1/invoices/:id/retry')
export class InvoiceRetryController {
  constructor(
    private readonly retries: RetriesService,
    private readonly views: InvoiceViews,
  ) {}

  @Post()
  @HttpCode(202)
  @MayChange('ops', 'invoice.retry')
  @ApiOperation({
    operationId: 'retryInvoice',
    summary: 'Try a failed or overdue renewal again now (role: ops)',
    description:
      'For a renewal that the MoR never charged, once it is overdue: Crossbill asks the MoR over the relay to charge the present amount. After a refusal Crossbill takes the next step of `RETRY_SCHEDULE` at once: it asks the MoR over the relay to charge again, or makes a payment link. Crossbill reads the invoice at Stripe first, and once more before it sends anything. The answer is the invoice, with the retry in `retries`; the verdict comes as an event.',
  })
  @KeyHeader(false)
  @ApiAcceptedResponse({ type: InvoiceView })
  @Problems({
    400: '`invalid_request`: the Idempotency-Key is wrong.',
    404: '`not_found`: no such invoice.',
    409: '`invoice_not_retryable`, with the reason, such as: the invoice is paid or void, the MoR may still be charging it, a retry is under way, the customer can pay a link, no relay and no links are set up; `idempotency_conflict`',
    502: '`billing_unavailable`: Stripe did not return the invoice; nothing was done.',
  })
  async retry(
    @Param('id', InvoiceIdPipe) id: string,
    @Req() req: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<InvoiceView> {
    const key = idempotencyKey(req);
    const name = key === null ? null : requestName(caller, `/v1/invoices/${id}/retry`, key, req.body);
    retriedOrProblem(await this.retries.retry(id, caller.name, name));
    const found = await this.views.of(id);
    if (found === null) throw notFound('invoice');
    return found;
  }
}
