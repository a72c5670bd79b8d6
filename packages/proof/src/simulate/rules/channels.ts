// The rules about the MoR's other channels: an invoice has one payable link at a time, Crossbill knows every proforma
// invoice, an item reports every dispute, and the ledger has every loss to a bank.
import { type Sides } from './sides.js';
import { type Snapshot } from '../machine/sim-repository.js';

/** The simulated clocks are wrong by at most ten minutes, so a link may seem to expire that much too early. */
const CLOCKS_DIFFER_MS = 620_000;

export function channelRules(sides: Sides): string[] {
  return [...linkRules(sides), ...proformaRules(sides), ...disputeRules(sides)];
}

/** C1: at most one link of an invoice takes money at a time. */
function linkRules({ world }: Sides): string[] {
  const broken: string[] = [];
  const { links } = world.sandbox.mor.channelBooks();
  for (const [n, link] of links.entries()) {
    const invoiceId = world.linkOf.get(link.idempotencyKey);
    const beside = links
      .slice(0, n)
      .filter((l) => world.linkOf.get(l.idempotencyKey) === invoiceId)
      .filter((l) => l.openUntilMs - CLOCKS_DIFFER_MS > link.createdAtMs);
    if (beside.length > 0) broken.push(`C1: ${invoiceId ?? ''} has link ${link.id} while another takes money`);
  }
  return broken;
}

/** C2: Crossbill has one row for each proforma invoice, and the row is settled if the MoR has settled it. */
function proformaRules({ world, seen }: Sides): string[] {
  const broken: string[] = [];
  const { proformas } = world.sandbox.mor.channelBooks();
  for (const p of proformas) {
    const own = seen.objects.filter((o) => o.kind === 'proforma' && o.mor_id === p.id && o.status !== 'REPLACED');
    if (own.length !== 1) broken.push(`C2: proforma invoice ${p.id} has ${own.length} rows`);
    if (p.received !== null && own.some((o) => o.status !== 'SETTLED'))
      broken.push(`C2: proforma invoice ${p.id} is settled at the MoR and ${own[0]?.status ?? 'unknown'} here`);
  }
  return broken;
}

/** C3: an item reports every dispute, and the dispute's row has the last outcome. */
function disputeRules({ world, seen }: Sides): string[] {
  const broken: string[] = [];
  for (const { disputeId, outcome, outcomeEvents } of world.disputes) {
    const own = seen.objects.filter((o) => o.kind === 'dispute' && o.mor_id === disputeId);
    const items = seen.reviews.filter((r) => r.kind === 'dispute' && r.subject.startsWith(disputeId));
    // If Crossbill does not know the payment, the item names only the event, so any item with this topic counts.
    const notified =
      items.length > 0 || seen.reviews.some((r) => r.kind === 'dispute' && r.topic === 'unknown-dispute');
    if (!notified && !(outcome === 'won' && wonFirst(seen, outcomeEvents)))
      broken.push(`C3: no person was told about dispute ${disputeId}`);
    if (own.length > 1) broken.push(`C3: dispute ${disputeId} has ${own.length} rows`);
    const [dispute] = own;
    if (dispute !== undefined && wasHeard(seen, outcomeEvents) && dispute.status !== outcome)
      broken.push(`C3: dispute ${disputeId} is ${dispute.status} here, and it was ${outcome}`);
  }
  return [...broken, ...lossRules({ world, seen })];
}

/** True if the last outcome arrived before any other event of the dispute: then no person needs to do anything. */
function wonFirst(seen: Snapshot, outcomeEvents: readonly string[]): boolean {
  const last = seen.events.find((e) => e.event_id === outcomeEvents.at(-1));
  const first = seen.events.find((e) => e.lane === last?.lane && e.type.startsWith('dispute.'));
  return last !== undefined && first === last;
}

/**
 * True if Crossbill has all these events. An event may be missing: its sender gives up after eight tries, and a wrong
 * clock may quarantine each try. False too if an operator dismissed the item of an event.
 */
function wasHeard(seen: Snapshot, events: readonly string[]): boolean {
  const dismissed = (id: string): boolean => seen.reviews.some((r) => r.subject === id && r.resolution === 'dismiss');
  return events.every((id) => seen.events.some((e) => e.event_id === id) && !dismissed(id));
}

/** C4: the ledger has every loss to a bank. The losses of a payment never exceed its amount after refunds. */
function lossRules({ world, seen }: Pick<Sides, 'world' | 'seen'>): string[] {
  const broken: string[] = [];
  for (const paymentId of new Set(world.disputes.map((d) => d.paymentId))) {
    const disputes = world.disputes.filter((d) => d.paymentId === paymentId);
    const row = seen.payments.find((p) => p.payment_id === paymentId);
    if (row === undefined || row.succeeded_at === null || !disputes.every((d) => wasHeard(seen, d.outcomeEvents)))
      continue;
    const booked = seen.ledger.reduce((n, e) => {
      if (e.payment_row_id !== row.id) return n;
      return n + (e.reason === 'dispute_lost' ? 1 : e.reason === 'dispute_reversed' ? -1 : 0) * Number(e.amount);
    }, 0);
    const lost = disputes.filter((d) => d.outcome === 'lost').reduce((n, d) => n + (d.minor ?? Number(row.amount)), 0);
    const wanted = Math.min(lost, Number(row.amount) - Number(row.amount_refunded));
    if (booked !== wanted) broken.push(`C4: ${booked} counts as lost of ${paymentId}, not ${wanted}`);
  }
  return broken;
}
