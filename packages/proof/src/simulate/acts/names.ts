// Gives Crossbill the MoR's id of a payment (in this code: its name), by a person, the shop's backend, or a
// `payment.captured`. The id may be wrong.
import { transferInPortal } from '@crossbill/sandbox/mor/portal.js';
import { decimalFromMinor } from '#src/shared/domain/money.js';
import { type MorPayment } from '@crossbill/sandbox/mor/state.js';
import { type People } from './people.js';
import { type Capture } from './planted.js';
import { type World } from '../machine/world.js';

export type Said = 'right' | 'mistyped' | 'taken';

const REFUSED_AS_TAKEN = 'payment_id_taken';

export class Names {
  constructor(
    private readonly world: World,
    private readonly people: People,
  ) {}

  /** Lists the successful payments without a known id at the MoR, by their references in Stripe. */
  async nameless(): Promise<readonly string[]> {
    const page = await this.world.ask('payments', (r) => r.paymentRows.list({}, { limit: 100, cursor: null }));
    const rows = page?.data.map((d) => d.payment) ?? [];
    return rows.flatMap((p) =>
      p.paymentId === null && p.succeededAt !== null && p.reference !== null ? [p.reference] : [],
    );
  }

  /**
   * Returns the MoR's id of the payment with this reference, or null. A bank transfer gets its id when somebody first
   * looks it up in the MoR's portal.
   */
  nameOf(reference: string): string | null {
    const { links, proformas } = this.world.sandbox.mor.channelBooks();
    const transfer = proformas.find((f) => f.id === reference && f.received !== null);
    if (transfer !== undefined) return this.world.planted.transfers.get(transfer.id) ?? this.portalId(transfer);
    const link = links.find((l) => l.id === reference);
    // After two payments on one link, nobody can say which payment the reference means.
    if (link !== undefined) return link.paymentIds.length > 1 ? null : (link.paymentIds[0] ?? null);
    return this.people.payments().find((p) => p.processorChargeId === reference)?.id ?? null;
  }

  /**
   * An operator tells Crossbill a payment's id. `taken`: the id of another payment, so Crossbill must refuse. Returns
   * the payment's new id, or null.
   */
  async identify(reference: string, how: Said): Promise<string | null> {
    const { world } = this;
    const right = this.nameOf(reference);
    const said =
      how === 'right' ? right : how === 'mistyped' ? world.name('pay_mistyped') : await this.takenName(right);
    if (said === null) return null;
    return this.say(reference, said, how);
  }

  /** An operator tells Crossbill the id `said`. Returns the payment's new id, or null if Crossbill refused. */
  async say(reference: string, said: string, how: Said | 'another'): Promise<string | null> {
    const { world } = this;
    if (world.mayBeLost) return null;
    const done = await world.ask(`identify ${said}`, async (r) => {
      const page = await r.paymentRows.list({}, { limit: 100, cursor: null });
      const rows = page.data.filter((d) => d.payment.reference === reference);
      // The MoR may report one charge for two invoices, so two payments share a reference. If one of them already has
      // the id, Crossbill rightly accepts the id.
      if (how === 'taken' && rows.some((d) => d.payment.paymentId === said)) return null;
      const row = rows[0]?.payment;
      return row === undefined ? null : r.payments.identify(row.id, said, 'ops');
    });
    if (done === null) return null;
    if (how === 'taken' && done.ok)
      world.scheduler.broken.push(`N1: ${reference} may be called ${said}, the name of another payment`);
    if (how === 'taken' && !done.ok && done.code === REFUSED_AS_TAKEN && !/pmt_\d+/.test(done.message))
      world.scheduler.broken.push(`N1: ${said} is refused, and nobody learns whose name it already is`);
    if (done.ok && how !== 'taken') world.planted.namings.push({ reference, said, as: how });
    return done.ok ? said : null;
  }

  /** An operator refunds a payment, or a part of it, under the id `name` it has in Crossbill. */
  async refund(reference: string, name: string, amount: number | null): Promise<void> {
    const right = this.nameOf(reference);
    const asked = await this.people.refund(name, amount, 1, right ?? name);
    if (asked && name.startsWith('pay_mistyped')) this.world.planted.disowned.add(name);
  }

  /** The MoR sends the same `payment.captured` `times` times. `says`: the id and the amount in the event. */
  async capture(paymentId: string, says: Pick<Capture, 'saysId' | 'saysAmount'>, times = 1): Promise<void> {
    const p = this.world.sandbox.mor.payments.get(paymentId);
    if (p === undefined || p.processorChargeId === '' || p.status === 'processing' || p.status === 'failed') return;
    const id = `evt_captured_${this.world.name(paymentId)}`;
    this.world.planted.captures.push({ eventId: id, paymentId, ...says });
    const data = {
      pspReference: p.processorChargeId,
      paymentId: p.uuid,
      status: 'CAPTURED',
      ...(says.saysId ? { processorReferences: { payment: p.id } } : {}),
      ...(says.saysAmount === 'not' ? {} : { amount: amountOf(p, says.saysAmount === 'right' ? 0 : 1) }),
    };
    for (let n = 0; n < times; n++) await this.people.control('/events', { type: 'payment.captured', id, data });
  }

  private async takenName(right: string | null): Promise<string | null> {
    const page = await this.world.ask('payments', (r) => r.paymentRows.list({}, { limit: 100, cursor: null }));
    const names = page?.data.flatMap((d) => d.payment.paymentId ?? []) ?? [];
    return names.find((name) => name !== right) ?? null;
  }

  /** Adds a bank transfer to the payments of the MoR's portal. Returns its id there. */
  private portalId(facts: {
    readonly id: string;
    readonly reference: string | null;
    readonly received: bigint | null;
    readonly currency: string;
  }): string {
    const id = transferInPortal(this.world.sandbox, {
      invoiceId: facts.reference,
      customerId: this.people.invoice(facts.reference ?? '')?.customer ?? '',
      amount: Number(facts.received ?? 0n),
      currency: facts.currency.toLowerCase(),
    });
    this.world.planted.transfers.set(facts.id, id);
    return id;
  }
}

function amountOf(payment: MorPayment, more: number): { readonly amount: string; readonly currency: string } {
  const currency = payment.currency.toUpperCase();
  return { amount: decimalFromMinor(BigInt(payment.amount + more), currency), currency };
}
