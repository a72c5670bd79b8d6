// Makes a proforma invoice for the amount due on an invoice. An invoice has one live proforma invoice at a time.
import { Injectable } from '@nestjs/common';
import { refusalProblem } from '../../frames/api/http/problem.js';
import { ObjectReplies } from '../../core/mor-objects/object-replies.js';
import { type CreateProformaDto } from '../../core/mor-objects/mor-object.dto.js';
import { MorObjectsService } from '../../core/mor-objects/mor-objects.service.js';
import { wireOrProblem } from '../../core/mor-objects/callers-words.js';
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import { Clock, Ids } from '../../shared/domain/ports/clock.js';
import { type NamedRequest } from '../../shared/domain/request-name.js';
import { DAY_MS } from '../../shared/policy.js';
import { proformaLookup } from './rules/proforma.js';
import { proformaWire } from './proforma-request.js';

@Injectable()
export class ProformasService {
  constructor(
    private readonly service: MorObjectsService,
    private readonly replies: ObjectReplies,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Returns the live proforma invoice, or requests a new one and waits for the MoR's reply. Throws 400 for a wrong or
   * missing field, 404, 409 `invoice_not_payable`, the MoR's refusal, and 502 without a reply.
   */
  async create(id: string, wish: CreateProformaDto, by: string, name: NamedRequest | null): Promise<MorObjectRow> {
    const billed = await this.service.billed(id);
    const there = await this.service.findOpen(id, 'proforma');
    // The MoR may have deleted the known proforma invoice, so read its status first.
    if (there !== null && there.morId !== null) await this.service.refresh(proformaLookup, there);
    const today = this.clock.now().toISOString().slice(0, 10);
    const settled = await this.service.recordedProformas(id);
    const { wire, problem } = wireOrProblem(() => proformaWire(wish, billed, today, settled));
    const until = new Date(Date.parse(`${wish.due_date}T00:00:00Z`) + DAY_MS);
    const { invoice: facts, askedAt } = billed;
    const request = { kind: 'proforma', id: this.ids.next('pfm'), wire, until, facts, askedAt, by } as const;
    const asked = await this.service.request(request, name);
    if (!asked.ok) throw asked.status === 400 && problem !== null ? problem : refusalProblem(asked);
    return this.replies.of(asked.value);
  }
}
