// The MoR's documents: invoice files of payments and refunds, and e-invoices. Each response has new links from the MoR.
import { type EInvoice, EInvoices, Invoices } from '@crossbill/mor';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { ReadModel } from '../../engine/read-model.js';
import { MayRead } from '../../frames/api/access/access.js';
import { Example, PartIfAny, PendingView, Problems, Text, TextOrNull, TimeOrNull } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { morProblem, notFound } from '../../frames/api/http/problem.js';
import { timeOf } from '../../frames/api/http/values.js';
import { FileLinkView, linkOrWait } from '../../core/mor-objects/file-link.view.js';

class EInvoiceSource {
  @Text('`proforma_invoice` or `payment`.') type!: string;
  @Text() id!: string;
}

class EInvoiceError {
  @Text('Why the authority rejected it.') message!: string;
}

class EInvoiceFiles {
  @TextOrNull('Pre-signed; null: no such file.') pdfUrl!: string | null;
  @TextOrNull('Pre-signed; null: no such file.') xmlUrl!: string | null;
  @TimeOrNull('When the links expire, 15 minutes from now.') expiresAt!: string | null;
}

export class EInvoiceView {
  @Example('id_123') @Text() id!: string;
  @Example('ISSUED')
  @Text('`PENDING`, `ISSUED`, `FAILED`, `CANCELLED` or another word of the MoR, which is not final.')
  status!: string;
  @PartIfAny(EInvoiceSource, 'What the e-invoice is for.') source?: EInvoiceSource | undefined;
  @PartIfAny(EInvoiceError, 'Only with `FAILED`.') error?: EInvoiceError | undefined;
  @PartIfAny(EInvoiceFiles, 'Left out until there are files.') document?: EInvoiceFiles | undefined;
}

const PENDING = 'The MoR is still making the file: ask again after Retry-After seconds.';

@ApiTags('Documents')
@Controller('v1')
export class DocumentsController {
  constructor(
    private readonly books: ReadModel,
    private readonly invoices: Invoices,
    private readonly eInvoices: EInvoices,
  ) {}

  @Get('payments/:id/document')
  @MayRead('read', 'payment.document')
  @ApiOperation({ operationId: 'getPaymentDocument', summary: "A fresh link to a payment's invoice file (role: read)" })
  @ApiOkResponse({ type: FileLinkView })
  @ApiAcceptedResponse({ type: PendingView, description: PENDING })
  @Problems({ 404: '`not_found`: no such payment, or the MoR has no file for it.', 502: '`mor_unavailable`' })
  async ofPayment(
    @Param('id', IdPipe) id: string,
    @Res({ passthrough: true }) res: Response,
  ): Promise<FileLinkView | PendingView> {
    const found = await this.books.payment(id);
    if (found === null) throw notFound('payment');
    const { processorChargeId, invoiceId, id: rowId } = found.payment;
    if (processorChargeId !== null) {
      return linkOrWait(await this.invoices.ofPaymentByReference(processorChargeId), res);
    }
    const objects = await this.books.objects(invoiceId);
    const captured = objects.find((o) => o.kind === 'capture' && o.paymentRowId === rowId);
    if (captured === undefined || captured.morId === null)
      throw notFound('document: the MoR sent no charge id of the payment');
    return linkOrWait(await this.invoices.ofPayment(captured.morId), res);
  }

  @Get('refunds/:id/document')
  @MayRead('read', 'refund.document')
  @ApiOperation({ operationId: 'getRefundDocument', summary: "A fresh link to a refund's invoice file (role: read)" })
  @ApiOkResponse({ type: FileLinkView })
  @ApiAcceptedResponse({ type: PendingView, description: PENDING })
  @Problems({ 404: '`not_found`: no such refund, or the MoR has no file for it.', 502: '`mor_unavailable`' })
  async ofRefund(
    @Param('id', IdPipe) id: string,
    @Res({ passthrough: true }) res: Response,
  ): Promise<FileLinkView | PendingView> {
    const found = await this.books.refund(id);
    if (found === null) throw notFound('refund');
    const { processorRefundId } = found.refund;
    if (processorRefundId === null) throw notFound('document: the MoR sent no refund id of the processor');
    return linkOrWait(await this.invoices.ofRefundByReference(processorRefundId), res);
  }

  @Get('e-invoices/:id')
  @MayRead('read', 'e_invoice.read')
  @ApiOperation({ operationId: 'getEInvoice', summary: 'An e-invoice with fresh links (role: read)' })
  @ApiOkResponse({ type: EInvoiceView })
  @Problems({ 400: '`invalid_argument`: not a uuid.', 404: '`not_found`', 502: '`mor_unavailable`' })
  async eInvoice(@Param('id', IdPipe) id: string): Promise<EInvoiceView> {
    const read = await this.eInvoices.read(id);
    if (!read.ok) throw morProblem(read);
    return eInvoiceView(read.value);
  }
}

function eInvoiceView(eInvoice: EInvoice): EInvoiceView {
  const { document: d } = eInvoice;
  return {
    id: eInvoice.id,
    status: eInvoice.status,
    source: eInvoice.madeFor ?? undefined,
    error: eInvoice.errorMessage === null ? undefined : { message: eInvoice.errorMessage },
    document: d === null ? undefined : { pdfUrl: d.pdfUrl, xmlUrl: d.xmlUrl, expiresAt: timeOf(d.expiresAt) },
  };
}
