// People's acts on the MoR's other channels: bank transfers, payment links, disputes and alerts.
import { encodeDeleteProforma, encodePaymentLink } from '@crossbill/mor';
import { Problem } from '#src/frames/api/http/problem.js';
import { linkLookup } from '#src/features/links/rules/link.js';
import { type Billed } from '#src/core/mor-objects/mor-objects.service.js';
import { proformaWire } from '#src/features/transfers/proforma-request.js';
import { proformaLookup } from '#src/features/transfers/rules/proforma.js';
import { callKey } from '#src/engine/context.js';
import { decimalFromMinor } from '#src/shared/domain/money.js';
import { eventIdFor } from '@crossbill/sandbox/mor/event-types.js';
import { type CaptureNames, namesCharge } from '@crossbill/sandbox/mor/payment-links.js';
import { type MorRefund } from '@crossbill/sandbox/mor/state.js';
import { type People } from './people.js';
import { type LinkPaid } from './planted.js';
import { type Replica } from '../machine/replica.js';
import { type World } from '../machine/world.js';

const JURISDICTION = 'GB';
const DUE_IN_MS = 30 * 86_400_000;

export class Channels {
  constructor(
    private readonly world: World,
    private readonly people: People,
  ) {}

  /** An operator asks for a proforma invoice. */
  async askForTransfer(invoiceId: string): Promise<void> {
    if (this.world.mayBeLost) return;
    const id = this.world.name('pfm');
    await this.world.ask('proforma', async (r) => {
      const billed = await billedNow(r, invoiceId);
      if (billed === null) return;
      await this.refreshOpen(r, invoiceId, 'proforma');
      const today = r.clock.now().toISOString().slice(0, 10);
      const dto = {
        jurisdiction: JURISDICTION,
        due_date: new Date(r.clock.now().getTime() + DUE_IN_MS).toISOString().slice(0, 10),
        provider: { providerName: 'Larch', providerCountry: JURISDICTION },
      };
      const wire = proformaWire(dto, billed, today);
      const { invoice: facts, askedAt } = billed;
      const until = new Date(r.clock.now().getTime() + DUE_IN_MS);
      await r.channels.request({ kind: 'proforma', id, wire, until, facts, askedAt, by: 'ops' }, null);
    });
  }

  /** The bank transfer for an issued proforma invoice arrives. `share`: the part of the amount, 1 for all. */
  async transfer(invoiceId: string, share: number): Promise<void> {
    const books = this.world.sandbox.mor.channelBooks();
    const issued = books.proformas.find((p) => p.reference === invoiceId && p.status === 'ISSUED');
    if (issued === undefined) return;
    const minor = BigInt(Math.max(1, Math.round(Number(issued.total) * share)));
    const amount = decimalFromMinor(minor, issued.currency);
    await this.people.control(`/proformas/${issued.id}/settle`, { amount });
  }

  /** An operator asks for a proforma invoice, and the MoR fails to issue it. */
  async failIssuance(invoiceId: string): Promise<void> {
    await this.people.control('/issuance', { hold: true });
    await this.askForTransfer(invoiceId);
    this.world.scheduler.plan(this.world.now + 120_000, 'issuance goes on', async () => {
      const { proformas } = this.world.sandbox.mor.channelBooks();
      const waiting = proformas.find((p) => p.reference === invoiceId && p.status === 'PENDING_TAX_TRANSACTION');
      if (waiting !== undefined) await this.people.control(`/proformas/${waiting.id}/fail`, {});
      await this.people.control('/issuance', { hold: false });
    });
  }

  /** An operator withdraws a proforma invoice. The MoR refuses this after the issue. */
  async withdraw(invoiceId: string): Promise<void> {
    if (this.world.mayBeLost) return;
    await this.world.ask('withdraw', async (r) => {
      const o = (await r.books.objects(invoiceId)).findLast((x) => x.kind === 'proforma' && x.morId !== null);
      if (o === undefined || o.morId === null || o.status === 'DELETED') return;
      const deleted = await r.proformas.sendDelete(encodeDeleteProforma(o.morId));
      if (!deleted.ok && deleted.status === null) throw new Error('the MoR does not answer');
      if (deleted.ok || deleted.status === 404) await r.channels.deleted(o, 'ops');
    });
  }

  /** An operator asks for a payment link. */
  async askForLink(invoiceId: string, expiresInSec: number): Promise<void> {
    if (this.world.mayBeLost) return;
    const id = this.world.name('lnk');
    this.world.linkOf.set(callKey('create_payment_link', id, 1), invoiceId);
    await this.world.ask('link', async (r) => {
      const billed = await billedNow(r, invoiceId);
      if (billed === null) return;
      await this.refreshOpen(r, invoiceId, 'payment_link');
      const { invoice: facts, askedAt } = billed;
      const wire = encodePaymentLink({
        jurisdiction: JURISDICTION,
        amount: { minor: facts.amountRemaining, currency: facts.currency },
        returnUrl: 'https://shop.example/paid',
        idempotencyKey: callKey('create_payment_link', id, 1),
        expiresIn: expiresInSec,
      });
      await r.channels.request({ kind: 'payment_link', id, wire, until: null, facts, askedAt, by: 'ops' }, null);
    });
  }

  /** The customer pays an open link of the invoice. `names`: the ids in the MoR's event. */
  async payLink(invoiceId: string, names: CaptureNames = 'charge'): Promise<void> {
    await this.pay(invoiceId, names, false);
  }

  /** Somebody opens the links of the invoice. Each time Crossbill reads the link at the MoR. */
  async pollLinks(invoiceId: string): Promise<void> {
    await this.world.ask('look at links', async (r) => {
      for (const o of await r.books.objects(invoiceId))
        if (o.kind === 'payment_link' && o.morId !== null) await r.channels.refresh(linkLookup, o);
    });
  }

  /** The customer pays a link of the invoice a second time, from a page still open. */
  async payLinkAgain(invoiceId: string, names: CaptureNames): Promise<void> {
    await this.pay(invoiceId, names, true);
  }

  /**
   * The MoR also sends its card payment event (Document 3) for each link payment, if the earlier `payment.captured`
   * named the charge.
   */
  tellOfLinkPayments(invoiceId: string): void {
    const merchantCustomerId = this.people.invoice(invoiceId)?.customer ?? '';
    for (const { paymentId, names } of this.paidOn(invoiceId)) {
      const p = this.world.sandbox.mor.payments.get(paymentId);
      if (p === undefined || !namesCharge(names)) continue;
      this.world.sandbox.cards.events.verdict({
        ...p,
        status: 'succeeded',
        merchantInvoiceId: invoiceId,
        merchantCustomerId,
      });
    }
  }

  /**
   * Somebody refunds the last payment on the invoice's links, or a part of it, in the MoR's portal. Does nothing until
   * the daemon has answered 200 to an event with the payment's id or charge.
   */
  async refundOfLink(invoiceId: string, amount: number | null): Promise<void> {
    const { acknowledged } = this.world;
    const heard = this.paidOn(invoiceId).findLast(
      (p) => p.names !== 'nothing' && acknowledged.some((a) => a.eventId === p.eventId),
    );
    if (heard === undefined) return;
    await this.people.control('/mor/refunds', {
      payment_id: heard.paymentId,
      ...(amount === null ? {} : { amount }),
    });
  }

  private paidOn(invoiceId: string): readonly LinkPaid[] {
    const { linkOf, planted, sandbox } = this.world;
    const links = sandbox.mor.channelBooks().links.filter((l) => linkOf.get(l.idempotencyKey) === invoiceId);
    return planted.linksPaid.filter((p) => links.some((l) => l.id === p.linkId));
  }

  private async pay(invoiceId: string, names: CaptureNames, again: boolean): Promise<void> {
    const { linkOf, planted, sandbox } = this.world;
    for (const { id, idempotencyKey, paymentIds } of sandbox.mor.channelBooks().links) {
      if (linkOf.get(idempotencyKey) !== invoiceId || paymentIds.length > 0 !== again) continue;
      await this.people.control(`/payment-links/${id}/pay`, { names, again });
      const paid = sandbox.mor.channelBooks().links.find((l) => l.id === id)?.paymentIds ?? [];
      const p = sandbox.mor.payments.get(paid[paymentIds.length] ?? '');
      if (p === undefined) continue; // the link has expired
      const eventId = eventIdFor('payment.captured', p.uuid);
      planted.linksPaid.push({ linkId: id, paymentId: p.id, chargeId: p.processorChargeId, eventId, names });
    }
  }

  /**
   * A bank disputes a payment, or `share` of it, and decides later. `lost_then_won`: the bank first reports a loss,
   * then decides for the merchant.
   */
  async dispute(
    paymentId: string,
    how: {
      readonly outcome: 'won' | 'lost' | 'lost_then_won';
      readonly decidedAfterMs: number;
      readonly share?: number;
    },
  ): Promise<void> {
    const payment = this.world.sandbox.mor.payments.get(paymentId);
    if (payment === undefined) return;
    const disputeId = this.world.name('dp');
    const minor = how.share === undefined ? null : Math.max(1, Math.round(payment.amount * how.share));
    const currency = payment.currency.toUpperCase();
    const amount = minor === null ? {} : { amount: { amount: decimalFromMinor(BigInt(minor), currency), currency } };
    const data = { disputeId, paymentId, ...amount };
    const outcomes = how.outcome === 'lost_then_won' ? (['lost', 'won'] as const) : [how.outcome];
    const outcomeEvents = outcomes.map((outcome) => `evt_${outcome}_${disputeId}`);
    const last = outcomes.at(-1) ?? 'lost';
    this.world.disputes.push({ disputeId, paymentId, outcome: last, minor, outcomeEvents });
    await this.people.control('/events', { type: 'dispute.action_needed', data });
    outcomes.forEach((outcome, n) => {
      const at = this.world.now + how.decidedAfterMs * (n + 1);
      this.world.scheduler.plan(at, `dispute ${disputeId} is ${outcome}`, async () => {
        const id = outcomeEvents[n];
        await this.people.control('/events', { type: 'dispute.outcome', id, data: { ...data, outcome } });
      });
    });
  }

  /**
   * The MoR announces a chargeback. Half an hour later it reports the outcome. `refunded`: the MoR first refunds the
   * rest of the payment.
   */
  async alert(paymentId: string, refunded: boolean): Promise<void> {
    const { mor, cards } = this.world.sandbox;
    if (!mor.payments.has(paymentId)) return;
    const data = { alertId: this.world.name('al'), paymentId };
    this.world.alerts.push({ ...data, refunded });
    await this.people.control('/events', { type: 'pre_chargeback_alert.received', data });
    this.world.scheduler.plan(this.world.now + 1_800_000, `alert ${data.alertId} is handled`, async () => {
      const payment = mor.payments.get(paymentId);
      let given: MorRefund | null = null;
      if (refunded && payment !== undefined) {
        try {
          given = cards.refunds.create(payment, {
            amount: null,
            reason: 'fraudulent',
            metadata: null,
            source: 'alert',
          });
        } catch {
          // Ignore: an earlier refund took the whole amount.
        }
      }
      await this.people.control('/events', {
        type: 'pre_chargeback_alert.outcome',
        data: { ...data, refunded: given !== null },
      });
    });
  }

  /**
   * Reads the invoice's proforma invoice or link at the MoR, because it may have ended. The API does the same before it
   * requests a new one.
   */
  private async refreshOpen(replica: Replica, invoiceId: string, kind: 'proforma' | 'payment_link'): Promise<void> {
    const there = await replica.channels.findOpen(invoiceId, kind);
    if (there !== null && there.morId !== null)
      await replica.channels.refresh(kind === 'proforma' ? proformaLookup : linkLookup, there);
  }
}

/** Reads the invoice on Stripe. Null: Stripe has no such invoice. Throws if Stripe does not answer. */
async function billedNow(replica: Replica, invoiceId: string): Promise<Billed | null> {
  try {
    return await replica.channels.billed(invoiceId);
  } catch (e) {
    if (e instanceof Problem && e.getStatus() === 404) return null;
    throw e;
  }
}
