// The rules about refunded money: each refund appears exactly one time in Crossbill and on Stripe, and refunds never
// exceed the payment.
import { wasDetached } from '../acts/manual-acts.js';
import { type CreditNote } from '@crossbill/sandbox/stripe/model.js';
import { type MorRefund } from '@crossbill/sandbox/mor/state.js';
import { isGapNotified, rowOf, type Sides, type Taken } from './sides.js';

export function refundRules(sides: Sides): string[] {
  const { world, seen, taken } = sides;
  const refunds = [...world.sandbox.mor.refunds.values()];
  return [
    ...oneClickOneRefund(refunds),
    ...taken.flatMap((p) => sumRules(sides, p)),
    ...refunds.filter((r) => r.status === 'succeeded').flatMap((r) => twinRules(sides, r)),
    ...lossNoteRules(sides),
    ...seen.refunds.filter((r) => r.status === 'requested').map((r) => `G4: refund ${r.id} was never sent`),
  ];
}

/** Returns Stripe's credit notes for bank losses. Their `refund_id` starts with `loss:`, unlike a refund's id. */
export function notesOfLosses(world: Sides['world']): readonly CreditNote[] {
  return [...world.sandbox.stripe.state.creditNotes.values()].filter((n) =>
    n.metadata['refund_id']?.startsWith('loss:'),
  );
}

/** V3: each loss has only one credit note, and Stripe has every note Crossbill has stored. */
function lossNoteRules({ world, seen }: Sides): string[] {
  const notes = notesOfLosses(world);
  const credits = seen.objects.flatMap((o) => o.detail.credit ?? []);
  const twice = notes.filter((n, i) => notes.findIndex((x) => x.metadata['refund_id'] === n.metadata['refund_id']) < i);
  const named = new Set(notes.map((n) => n.id));
  return [
    ...twice.map((n) => `V3: ${n.metadata['refund_id'] ?? ''} has a second credit note, ${n.id}`),
    ...credits
      .filter((c) => c.stage === 'done' && !named.has(c.noteId ?? ''))
      .map((c) => `V3: credit note ${c.noteId ?? ''} of ${c.name} is not on Stripe`),
    ...credits
      .filter((c) => c.stage === 'reporting' || c.stage === 'crediting')
      .map((c) => `V3: ${c.name} is not credited (${c.stage})`),
  ];
}

/** X5: several clicks with one idempotency key make one refund. */
function oneClickOneRefund(refunds: readonly MorRefund[]): string[] {
  const made = new Map<string, number>();
  for (const r of refunds) {
    const click = r.metadata?.['click'];
    if (typeof click === 'string') made.set(click, (made.get(click) ?? 0) + 1);
  }
  return [...made].filter(([, n]) => n > 1).map(([click, n]) => `X5: ${click} made ${n} refunds at the MoR`);
}

/** V6: Crossbill counts the same refunded amount as the MoR, or an item reports the gap. */
function sumRules({ world, seen }: Sides, payment: Taken): string[] {
  const row = rowOf(seen, payment);
  if (row === undefined || row.payment_id === null || world.planted.isMixedUp(payment)) return [];
  const broken: string[] = [];
  const gap = isGapNotified(seen, row.id);
  const own = seen.refunds.filter((r) => r.payment_row_id === row.id);
  const counted = own.filter((r) => r.counted).reduce((n, r) => n + Number(r.amount), 0);
  if (counted !== Number(row.amount_refunded))
    broken.push(`V6: ${payment.id} has ${row.amount_refunded} given back and refunds of ${counted}`);
  if (counted !== payment.amountRefunded && !gap)
    broken.push(
      `V6: the MoR gave back ${payment.amountRefunded} of ${payment.id}; ${counted} is counted, without an item`,
    );
  if (counted > payment.amount) broken.push(`V6: ${counted} is counted of ${payment.id}, which was ${payment.amount}`);
  return broken;
}

/** V3: each refund of a marked payment has one row in Crossbill, and one report and one credit note on Stripe. */
function twinRules({ world, seen, taken }: Sides, refund: MorRefund): string[] {
  const broken: string[] = [];
  const payment = taken.find((x) => x.id === refund.paymentId);
  const row = payment === undefined ? undefined : rowOf(seen, payment);
  if (payment === undefined || row === undefined || row.payment_id === null || world.planted.isMixedUp(payment))
    return [];
  const rows = seen.refunds.filter(
    (x) =>
      x.payment_row_id === row.id &&
      (x.mor_refund_id === refund.id || x.processor_refund_id === refund.processorRefundId),
  );
  const [own] = rows;
  if (own === undefined || rows.length > 1) return [`V3: refund ${refund.id} has ${rows.length} rows`];
  if (own.status !== 'succeeded') broken.push(`V3: refund ${refund.id} succeeded and is ${own.status} here`);
  if (row.mark !== 'confirmed' || !own.counted) return broken;
  const { records, creditNotes } = world.sandbox.stripe.state;
  const record = [...records.values()].find((x) => x.id === row.payment_record_id);
  const reports =
    record?.refunds.filter((x) => [refund.processorRefundId, refund.id, own.id].includes(x.reference)) ?? [];
  // Compare Crossbill's id and the MoR's id too: refunds of two payments may share one id of the processor.
  const names: readonly unknown[] = [own.id, own.processor_refund_id, own.mor_refund_id];
  const notes = [...creditNotes.values()].filter(
    (n) => n.status === 'issued' && n.invoice === row.invoice_id && names.includes(n.metadata['refund_id'] ?? ''),
  );
  const asked = seen.reviews.some((x) => x.refund_id === own.id && x.status === 'open');
  const left = seen.reviews.some((x) => x.refund_id === own.id && x.resolution === 'dismiss');
  // `surplus`: money above the invoice's amount. Its refund does not reduce the sale. After a mark out of band Stripe
  // need not show this refund, because Stripe never showed the surplus.
  const sale = refund.amount - Number(own.surplus);
  if (sale === 0 && row.mark_mode === 'out_of_band' && own.mirror === 'not_needed') return broken;
  if (own.mirror !== 'done') {
    // After somebody detached the payment, the invoice is open again, and verify reports the waiting refund.
    const detached = own.mirror === 'waiting' && wasDetached(world, { id: row.invoice_id });
    if (!asked && !left && !detached)
      broken.push(`V3: refund ${refund.id} does not show on Stripe (${own.mirror}), and no item says so`);
    return broken;
  }
  if (row.mark_mode === 'payment_record' && reports.length !== 1)
    broken.push(`V3: refund ${refund.id} was reported ${reports.length} times`);
  if (notes.length !== (sale === 0 ? 0 : 1)) broken.push(`V3: refund ${refund.id} has ${notes.length} credit notes`);
  if (notes.some((n) => n.amount !== sale)) broken.push(`V3: a credit note of ${refund.id} has another amount`);
  return broken;
}
