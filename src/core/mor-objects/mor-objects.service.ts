// Requests and reads proforma invoices and payment links of one invoice, and records their deletion. The lane's worker
// sends the requests.
import { Injectable } from '@nestjs/common';
import { invoiceUnread, notFound } from '../../frames/api/http/problem.js';
import { type ObjectLookup, type ObjectRead } from './rules/read-object.js';
import { objectDeleted, type ObjectRequest, requestObject, findOpenObject } from './rules/request.js';
import { type LaneState } from '../../shared/domain/model.js';
import { isRecordedProforma, type MorObjectRow } from '../../shared/domain/mor-object.js';
import { ReadModel } from '../../engine/read-model.js';
import { type BilledInvoice, BillingReader } from '../../shared/domain/ports/billing-reader.js';
import { LaneRepository } from '../../engine/lane.repository.js';
import { MorChannels } from '../../shared/domain/ports/mor-channels.js';
import { type NamedRequest } from '../../shared/domain/request-name.js';
import { LaneChanges } from '../../engine/lane-changes.js';
import { type Result } from '../../engine/commanded.js';
import { DecisionContext } from '../../engine/decision-context.js';

/** An invoice from Stripe, read at `askedAt`. An event or a read from after this time takes precedence. */
export type Billed = BilledInvoice & { readonly askedAt: Date };

@Injectable()
export class MorObjectsService {
  constructor(
    private readonly repository: LaneRepository,
    private readonly lanes: LaneChanges,
    private readonly books: ReadModel,
    private readonly reader: BillingReader,
    private readonly channels: MorChannels,
    private readonly context: DecisionContext,
  ) {}

  /**
   * Reads the invoice from Stripe, with its lines and its customer. Throws 404 if Stripe has no such invoice, 502 if
   * Stripe does not reply.
   */
  async billed(invoiceId: string): Promise<Billed> {
    const askedAt = await this.repository.time();
    const read = await this.reader.readInvoiceForProforma(invoiceId);
    if (!read.ok) throw invoiceUnread(read);
    if (read.value === null || read.value.invoice.status === 'deleted') throw notFound('invoice');
    return { ...read.value, askedAt };
  }

  /**
   * Stores the request for an object, or returns the live object of the invoice. A repeated request (the same `name`)
   * returns the object of the earlier request, in the object's present state.
   */
  request(request: ObjectRequest, name: NamedRequest | null): Promise<Result<MorObjectRow>> {
    const named = name === null ? null : { name, find: objectOf };
    return this.lanes.change(request.facts.invoiceId, (lane) => requestObject(lane, request), named);
  }

  /** The invoice's live object of this kind in our database. Null: none. */
  async findOpen(invoiceId: string, kind: ObjectRequest['kind']): Promise<MorObjectRow | null> {
    const objects = await this.books.objects(invoiceId);
    return findOpenObject({ objects }, kind, this.context.now());
  }

  /** The number of paid proforma invoices of an invoice in our database. */
  async recordedProformas(invoiceId: string): Promise<number> {
    return (await this.books.objects(invoiceId)).filter(isRecordedProforma).length;
  }

  /**
   * Reads an object at the MoR and records the reply: a paid link pays the invoice. Returns the reply and the resulting
   * row.
   */
  async refresh(
    lookup: ObjectLookup,
    object: MorObjectRow,
  ): Promise<{ readonly row: MorObjectRow; readonly outcome: ObjectRead }> {
    const { id: objectId, kind, morId } = object;
    if (morId === null || kind !== lookup.kind) throw new Error(`${objectId} cannot be read`);
    const outcome = await this.channels.read(lookup.kind, morId);
    if (!outcome.ok) return { row: object, outcome };
    const done = await this.lanes.change<MorObjectRow>(object.invoiceId, (lane) => {
      lookup.apply(lane, outcome, { objectId, morId });
      return { ok: true, value: objectOf(lane.toState(), objectId) ?? object };
    });
    return { row: done.ok ? done.value : object, outcome };
  }

  /** Records the MoR's deletion of a proforma invoice. */
  deleted(object: MorObjectRow, by: string): Promise<Result<MorObjectRow>> {
    return this.lanes.change(object.invoiceId, (lane) => objectDeleted(lane, object.id, by));
  }
}

function objectOf(state: LaneState, id: string): MorObjectRow | undefined {
  return state.objects.find((o) => o.id === id);
}
