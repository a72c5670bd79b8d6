// Makes a payment link for the amount due on an invoice. An invoice has one link at a time.
import { encodePaymentLink, paymentLinkBody, paymentLinkRequest } from '@crossbill/mor';
import { Injectable } from '@nestjs/common';
import { refusalProblem, Problem } from '../../frames/api/http/problem.js';
import { ObjectReplies } from '../../core/mor-objects/object-replies.js';
import { type CreatePaymentLinkDto } from '../../core/mor-objects/mor-object.dto.js';
import { MorObjectsService } from '../../core/mor-objects/mor-objects.service.js';
import { NOT_PAYABLE } from '../../core/mor-objects/rules/request.js';
import { callersField, wireOrProblem } from '../../core/mor-objects/callers-words.js';
import { linkLookup } from './rules/link.js';
import { callKey } from '../../engine/context.js';
import { type Money } from '../../shared/domain/money.js';
import { type MorObjectRow, objectName } from '../../shared/domain/mor-object.js';
import { Ids } from '../../shared/domain/ports/clock.js';
import { type WireRequest } from '../../shared/domain/ports/call.js';
import { type NamedRequest } from '../../shared/domain/request-name.js';

@Injectable()
export class PaymentLinksService {
  constructor(
    private readonly service: MorObjectsService,
    private readonly replies: ObjectReplies,
    private readonly ids: Ids,
  ) {}

  /**
   * Returns the link the customer can still pay, or requests a link and waits for the MoR's reply. Throws 400 for a
   * wrong field, 404, 409 `invoice_not_payable`, the MoR's refusal, and 502 without a reply.
   */
  async create(id: string, wish: CreatePaymentLinkDto, by: string, name: NamedRequest | null): Promise<MorObjectRow> {
    const { invoice, askedAt } = await this.service.billed(id);
    const there = await this.service.findOpen(id, 'payment_link');
    if (there !== null && there.morId !== null) await this.readAgain(there); // the customer may have paid it by now
    const objectId = this.ids.next('lnk');
    const { amountRemaining: minor, currency } = invoice;
    const amount = { minor, currency };
    const { wire, problem } = wireOrProblem(() => linkWire(wish, amount, objectId));
    const request = { kind: 'payment_link', id: objectId, wire, until: null, facts: invoice, askedAt, by } as const;
    const asked = await this.service.request(request, name);
    if (!asked.ok) throw asked.status === 400 && problem !== null ? problem : refusalProblem(asked);
    return this.replies.of(asked.value);
  }

  private async readAgain(link: MorObjectRow): Promise<void> {
    const { row, outcome } = await this.service.refresh(linkLookup, link);
    if (!outcome.ok || outcome.value !== null || row.status === 'DELETED') return;
    const why = `the MoR announced a payment on ${objectName(row)}, but does not show the link yet`;
    throw new Problem(409, NOT_PAYABLE, `Crossbill makes no link now: ${why}. Ask again in a few minutes.`);
  }
}

/** The request for a link. Its idempotency key is a field of the body, new for every request (Document 2). */
function linkWire(wish: CreatePaymentLinkDto, amount: Money, objectId: string): WireRequest {
  const request = {
    jurisdiction: wish.jurisdiction,
    amount,
    returnUrl: wish.return_url,
    idempotencyKey: callKey('create_payment_link', objectId, 1),
    ...(wish.expires_in === undefined ? {} : { expiresIn: wish.expires_in }),
  };
  const checked = paymentLinkRequest.check(paymentLinkBody(request));
  if (checked.ok) return encodePaymentLink(request);
  const errors = checked.errors.map((e) => ({ ...e, field: callersField(e.field) }));
  throw new Problem(400, 'invalid_request', `${errors[0]?.field ?? ''}: ${errors[0]?.message ?? ''}`, errors);
}
