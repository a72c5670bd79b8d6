// The rules about the ledger: each clearing account is zero unless unfinished work explains its balance, and the ledger
// agrees with Stripe and the MoR.
import { isGapNotified, rowOf, type Sides } from './sides.js';

/** V12: the ledger's balances agree with Stripe and the MoR. A debit adds to an account, a credit subtracts. */
export function ledgerRules({ world, seen, taken }: Sides): string[] {
  const broken: string[] = [];
  const balance = (account: string, rowId: string): number =>
    seen.ledger
      .filter((e) => e.payment_row_id === rowId)
      .reduce((n, e) => {
        const amount = Number(e.amount);
        return n + (e.debit_account === account ? amount : 0) - (e.credit_account === account ? amount : 0);
      }, 0);
  for (const p of taken) {
    const row = rowOf(seen, p);
    if (row === undefined || row.succeeded_at === null || world.planted.isMixedUp(p)) continue;
    const own = seen.refunds.filter((r) => r.payment_row_id === row.id && r.counted);
    const gap = isGapNotified(seen, row.id);
    const counted = own.reduce((n, r) => n + Number(r.amount), 0);
    const credited = seen.ledger.reduce((n, e) => (e.payment_row_id === row.id ? n + creditIn(e) : n), 0);
    const lost = balance('disputed_payments', row.id) + credited;
    if (credited < 0 || credited > lost)
      broken.push(`V12: ${credited} of the loss of ${p.id} is credited, and ${lost} is lost`);
    const owed = balance('mor_receivable', row.id) + lost;
    if (owed !== p.amount - counted)
      broken.push(`V12: the MoR owes ${owed} for ${p.id} by the ledger, not ${p.amount - counted}`);
    if (!gap && owed !== p.amount - p.amountRefunded)
      broken.push(`V12: the MoR owes ${p.amount - p.amountRefunded} for ${p.id}; the ledger says ${owed}`);
    const disputed = world.disputes.some((d) => d.paymentId === p.id && d.outcome === 'lost');
    const returned = world.planted.returns.get(p.id) === 'returned';
    // If a bank takes a debit back, the loss is the whole amount after refunds, and the ledger books it one time.
    if (returned && lost !== p.amount - counted)
      broken.push(`V12: the bank took ${p.amount - counted} of ${p.id} back; the ledger has lost ${lost}`);
    if (lost < 0 || lost > p.amount - counted || (lost > 0 && !disputed && !returned))
      broken.push(`V12: ${lost} of ${p.id} counts as taken back by a bank`);
    const unmarked = -balance('unmarked_payments', row.id);
    const unmirrored = balance('unmirrored_refunds', row.id);
    const waiting = own.filter((r) => r.mirror !== 'done' && r.mirror !== 'not_needed');
    const still = waiting.reduce((n, r) => n + Number(r.amount), 0);
    if (unmirrored !== still)
      broken.push(`V12: ${unmirrored} of refunds of ${p.id} are not mirrored, and ${still} wait`);
    const closedBy = own.filter((r) => r.mirror === 'not_needed').reduce((n, r) => n + Number(r.amount), 0);
    const expected = row.mark === 'confirmed' ? 0 : p.amount - closedBy;
    if (unmarked !== expected)
      broken.push(`V12: ${unmarked} of ${p.id} is unmarked by the ledger, not ${expected} (${row.mark})`);
  }
  return broken;
}

/** Returns the amount this entry adds to the losses credited on Stripe. Negative: it reverses an earlier entry. */
function creditIn({ reason, amount }: { readonly reason: string; readonly amount: string }): number {
  if (reason === 'loss_credited') return Number(amount);
  return reason === 'loss_credit_reversed' ? -Number(amount) : 0;
}
