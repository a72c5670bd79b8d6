// The rules about tax (MOR_PRODUCT=tor): one transaction for each paid invoice, and as much given back as the refunds were.
import { balanceOf } from '../sandbox/stripe/model.js';
import { wasDetached } from './hands.js';
import { rowOf, type Sides } from './sides.js';

export function taxRules({ world, seen, taken }: Sides): string[] {
  const { taxes } = world.sandbox.mor.channelBooks();
  if (world.settings.morProduct !== 'tor')
    return taxes.map((t) => `T1: the tax of ${t.reference} was committed, and it is not ours to commit`);
  const broken: string[] = [];
  const sales = new Map<string, { ids: string[]; rows: Set<string>; amount: number }>();
  for (const p of taken) {
    const row = rowOf(seen, p);
    // What was paid by transfer or on a link is taxed at the MoR itself.
    if (row === undefined || row.mark !== 'confirmed' || p.kind === 'link' || p.kind === 'transfer') continue;
    const sale = sales.get(row.invoice_id) ?? { ids: [], rows: new Set(), amount: 0 };
    sales.set(row.invoice_id, sale);
    sale.ids.push(p.id);
    sale.rows.add(row.id);
    sale.amount += p.amount;
  }
  for (const [invoiceId, { ids, rows, amount }] of sales) {
    const of = ids.join(' and ');
    const record = seen.taxes.find((t) => t.kind === 'transaction' && t.invoice_id === invoiceId);
    const own = taxes.filter((t) => t.reference === invoiceId);
    const asked = seen.reviews.some((r) => r.kind === 'effect_failed' && r.invoice_id === invoiceId);
    const invoice = world.sandbox.stripe.state.invoices.get(invoiceId);
    const isPaid = invoice?.status === 'paid';
    if (own.length > 1) broken.push(`T1: the tax of ${invoiceId} is committed ${own.length} times`);
    if (own.length === 0 && isPaid && !asked)
      broken.push(`T1: the tax of ${invoiceId} is not committed, and no review item says so`);
    // After a restore the MoR refuses to commit it again, and why it did may not be readable: then a person is asked.
    const isAsked = record?.stage === 'parked' && asked && world.gaps.length > 0;
    if (own.length === 1 && record?.stage !== 'committed' && !isAsked)
      broken.push(`T1: the tax of ${invoiceId} is committed at the MoR and ${record?.stage ?? 'unknown'} here`);
    const [tax] = own;
    if (tax === undefined) continue;
    // A credit in the customer's balance pays a part of an invoice as the card does: it lowers what is due, not the sale, whose tax is
    // of the `total` (Stripe docs, "Customer credit balance"). What a balance adds is charged with the invoice and is no part of it.
    const byBalance = invoice === undefined ? 0 : balanceOf(invoice).applied;
    if (tax.total !== BigInt(amount + byBalance))
      broken.push(`T2: ${tax.total} is taxed for ${of} of ${amount}, and ${byBalance} of it came from the balance`);
    const refunds = seen.refunds.filter((r) => rows.has(r.payment_row_id) && r.counted);
    // What gives back more than was due takes nothing off the sale.
    const due = refunds.reduce((n, r) => n + BigInt(r.amount) - BigInt(r.surplus), 0n);
    const given = tax.refunds.reduce((n, r) => n + r.amount, 0n);
    if (given > due) broken.push(`T3: tax refunds of ${given} for ${of}, of which ${due} was given back`);
    // A refund is not shown on an invoice that somebody took our payment off, and its tax waits for that; verify names the invoice.
    if (given < due && !asked && !wasDetached(world, { id: invoiceId }))
      broken.push(`T3: tax refunds of ${given} for ${of}; ${due} was given back, and no review item says so`);
  }
  for (const t of taxes) {
    if (!sales.has(t.reference)) broken.push(`T1: the tax of ${t.reference} is committed, and it is not paid by card`);
  }
  return broken;
}
