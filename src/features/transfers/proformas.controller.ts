// The API's routes for proforma invoices, for customers paying by bank transfer (Document 2).
import { ProformaInvoices } from '@crossbill/mor';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse } from '@nestjs/swagger';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import { ReadModel } from '../../engine/read-model.js';
import { MorObjectsService } from '../../core/mor-objects/mor-objects.service.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { KeyHeader, PendingView, Problems } from '../../frames/api/http/docs.js';
import { InvoiceIdPipe } from '../../frames/api/http/id.pipe.js';
import { idempotencyKey, requestName } from '../../frames/api/http/idempotency.js';
import { morProblem, notFound, valueOrProblem } from '../../frames/api/http/problem.js';
import { ObjectReplies } from '../../core/mor-objects/object-replies.js';
import { CreateProformaDto } from '../../core/mor-objects/mor-object.dto.js';
import { ProformaView, proformaView } from '../../core/mor-objects/mor-object.view.js';
import { FileLinkView, linkOrWait } from '../../core/mor-objects/file-link.view.js';
import { ProformasService } from './proformas.service.js';
import { proformaLookup } from './rules/proforma.js';

@ApiTags('Bank transfers')
@Controller('v1/invoices/:id/proforma')
export class ProformasController {
  constructor(
    private readonly service: MorObjectsService,
    private readonly replies: ObjectReplies,
    private readonly proformas: ProformaInvoices,
    private readonly books: ReadModel,
    private readonly issue: ProformasService,
  ) {}

  @Post()
  @HttpCode(201)
  @MayChange('ops', 'proforma.create')
  @ApiOperation({
    operationId: 'createProforma',
    summary: 'Issue a proforma invoice for an invoice (role: ops)',
    description:
      'Crossbill reads the amount due from Stripe. A repeat returns the live proforma invoice instead of a second one. Crossbill marks the invoice paid once the MoR reports the transfer.',
  })
  @KeyHeader(false)
  @ApiCreatedResponse({ type: ProformaView })
  @Problems({
    400: '`invalid_request`: a field is wrong, or a part of the recipient is missing both here and on Stripe.',
    404: '`not_found`: no such invoice; or the MoR knows no such calculation.',
    409: '`invoice_not_payable`: paid, void, a payment is being marked, a signup’s charge is not settled yet (ask again if it fails), or a part of a transfer waits for a person; `invoice_changed`: ask again; `idempotency_conflict`',
    422: "The MoR's refusal, for example `tax_calculation_expired`, `unsupported_jurisdiction`, `no_payment_destination`.",
    502: '`mor_unavailable`: no answer yet; Crossbill repeats the request.',
  })
  async create(
    @Param('id', InvoiceIdPipe) id: string,
    @Body() dto: CreateProformaDto,
    @Req() req: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<ProformaView> {
    const key = idempotencyKey(req);
    const name = key === null ? null : requestName(caller, `/v1/invoices/${id}/proforma`, key, req.body);
    return proformaView(await this.issue.create(id, dto, caller.name, name));
  }

  @Get()
  @MayRead('ops', 'proforma.read')
  @ApiOperation({
    operationId: 'getProforma',
    summary: 'The proforma invoice of an invoice, as the MoR has it now (role: ops)',
  })
  @ApiOkResponse({ type: ProformaView })
  @Problems({ 404: '`not_found`', 502: '`mor_unavailable`' })
  async read(@Param('id', InvoiceIdPipe) id: string): Promise<ProformaView> {
    const { row, outcome } = await this.service.refresh(proformaLookup, await this.newest(id));
    if (!outcome.ok) throw morProblem(outcome);
    if (row.status === 'DELETED') throw notFound('proforma invoice');
    return proformaView(row);
  }

  @Delete()
  @HttpCode(204)
  @MayChange('ops', 'proforma.delete')
  @ApiOperation({
    operationId: 'deleteProforma',
    summary: 'Delete a proforma invoice that is not issued yet (role: ops)',
  })
  @ApiNoContentResponse({ description: 'It was deleted, now or before.' })
  @Problems({ 404: '`not_found`', 409: '`not_deletable`: issued. Cancel it at the MoR.', 502: '`mor_unavailable`' })
  async remove(@Param('id', InvoiceIdPipe) id: string, @CurrentCaller() caller: Caller): Promise<void> {
    const o = await this.newest(id, true);
    if (o.status === 'DELETED' || o.morId === null) return;
    const deleted = await this.proformas.delete(o.morId);
    if (!deleted.ok && !(deleted.status === 404 && deleted.code === 'not_found')) throw morProblem(deleted);
    valueOrProblem(await this.service.deleted(o, caller.name));
  }

  @Get('document')
  @MayRead('ops', 'proforma.document')
  @ApiOperation({
    operationId: 'getProformaDocument',
    summary: 'A fresh link to the proforma invoice as a file; it lives 15 minutes (role: ops)',
  })
  @ApiOkResponse({ type: FileLinkView })
  @ApiAcceptedResponse({ type: PendingView, description: 'Not issued yet: ask again after Retry-After seconds.' })
  @Problems({ 404: '`not_found`', 409: '`issuance_failed`', 502: '`mor_unavailable`' })
  async document(
    @Param('id', InvoiceIdPipe) id: string,
    @Res({ passthrough: true }) res: Response,
  ): Promise<FileLinkView | PendingView> {
    const { morId } = await this.newest(id);
    if (morId === null) throw notFound('proforma invoice');
    return linkOrWait(await this.proformas.document(morId), res);
  }

  /** Finds the newest proforma invoice. If its request has no reply yet, waits for the reply. Throws 404. */
  private async newest(invoiceId: string, deletedToo = false): Promise<MorObjectRow> {
    const objects = await this.books.objects(invoiceId);
    const made = objects.findLast((o) => o.kind === 'proforma' && o.status !== 'REFUSED' && o.status !== 'REPLACED');
    if (made === undefined || (made.status === 'DELETED' && !deletedToo)) throw notFound('proforma invoice');
    return made.morId === null && made.status === 'REQUESTED' ? this.replies.of(made) : made;
  }
}
