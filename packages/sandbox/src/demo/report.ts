// The closing table of the demo: counts from Crossbill, Stripe and the MoR.
import { type Sides, TAKEN } from './sides.js';
import { type Tally } from './story.js';

export type Row = readonly [label: string, value: string, more: string];

export type Numbers = {
  readonly signups: number;
  readonly trials: number;
  readonly faults: number;
  readonly deaths: number;
  /** Real time the renewals took, in milliseconds. */
  readonly renewalsMs: number;
  readonly tally: Tally;
};

export function closingRows(sides: Sides, numbers: Numbers): readonly Row[] {
  const { stripe, mor, daemon } = sides;
  const t = numbers.tally;
  const outside = new Set(stripe.invoices.filter((i) => !i.enrolled).map((i) => i.id));
  const renewals = stripe.invoices.filter((i) => i.enrolled && i.billingReason === 'subscription_cycle');
  const paid = renewals.filter((i) => i.status === 'paid');
  const attempts = (id: string): readonly string[] =>
    mor.payments.filter((p) => p.invoiceId === id).map((p) => p.status);
  const openAfter = (status: string): number =>
    renewals.filter((i) => i.status === 'open' && attempts(i.id).at(-1) === status).length;
  const links = mor.payments.filter((p) => p.kind === 'link');
  const atLink = paid.filter((i) => links.some((p) => p.invoiceId === i.id)).length;
  const recovered = paid.filter((i) => attempts(i.id).includes('failed')).length - atLink;
  const due = new Map(stripe.invoices.map((i) => [i.id, i.amountDue]));
  const transfers = mor.payments.filter((p) => p.kind === 'transfer');
  const inPart = transfers.filter((p) => p.amount < (due.get(p.invoiceId ?? '') ?? 0)).length;
  const debits = mor.payments.filter((p) => p.method === 'bank_debit');
  const countDebits = (wanted: (status: string) => boolean): number => debits.filter((p) => wanted(p.status)).length;
  const amounts = new Map(mor.payments.map((p) => [p.id, p.amount]));
  const refunds = mor.refunds.filter((r) => r.status === 'succeeded');
  const full = refunds.filter((r) => r.amount === amounts.get(r.paymentId)).length;
  const portal = refunds.filter((r) => r.source === 'portal').length;
  const open = daemon.reviews.filter((r) => r.status === 'open').length;
  const perSecond = renewals.length / (numbers.renewalsMs / 1000);
  return [
    ['Signups', `${numbers.signups}`, `${numbers.signups - numbers.trials} paid at once, ${numbers.trials} by a trial`],
    ['Signups with tax', `${t.taxed}`, 'calculated by the MoR first, in the countries where it sells'],
    ['Renewals billed', `${renewals.length}`, `${perSecond.toFixed(1)} per second in this story, waits included`],
    ['Renewals with usage', `${t.grown}`, 'usage was added to the draft, and the MoR charged the final amount'],
    [
      'Renewals paid',
      `${paid.length}`,
      [
        ...(recovered > 0
          ? [`${recovered} at a retry${t.otherCards > 0 ? ` (${t.otherCards} with another card)` : ''}`]
          : []),
        ...(atLink > 0 ? [`${atLink} at a link`] : []),
      ].join(', '),
    ],
    [
      'Invoices not enrolled',
      `${daemon.invoices.filter((i) => outside.has(i.id) && i.status === 'ignored').length}`,
      'of customers who stay with Stripe: recorded, no relay, left alone',
    ],
    ['Declined, still open', `${openAfter('failed')}`, ''],
    ['Awaiting authentication', `${openAfter('requires_action')}`, ''],
    [
      'Bank debits settled',
      `${countDebits((s) => TAKEN.has(s))}`,
      `${countDebits((s) => s === 'processing')} pending, ${countDebits((s) => s === 'failed')} returned by the bank`,
    ],
    [
      'Refunds',
      `${refunds.length}`,
      `${full} full, ${refunds.length - full} partial; ${portal} made in the MoR's portal`,
    ],
    ['Bank transfers', `${transfers.length}`, `${transfers.length - inPart} in full, ${inPart} in part`],
    [
      'Payment links',
      `${links.length}`,
      `${links.length - atLink} for invoices without a card, ${atLink} for a declined renewal`,
    ],
    ['Documents fetched', `${t.documents + t.eInvoices}`, `${t.eInvoices} of them an e-invoice`],
    ['Disputes', `${t.disputesWon + t.disputesLost}`, `${t.disputesWon} won, ${t.disputesLost} lost and booked`],
    ['Merchants onboarded', `${t.merchants}`, ''],
    ['Webhook endpoints', `${t.endpoints}`, 'registered at the MoR for reports'],
    ['Review items', `${daemon.reviews.length}`, `${open} open, ${daemon.reviews.length - open} resolved`],
    ['Notifications', `${sides.backend.length}`, kinds(sides)],
    ['Injected faults', `${numbers.faults}`, 'late, lost, repeated and reordered deliveries; lost answers; refusals'],
    ['Deaths of the daemon', `${numbers.deaths}`, numbers.deaths === 0 ? '' : 'started again each time'],
  ];
}

/** Columns without boxes: labels align left, numbers align right. */
export function table(rows: readonly Row[]): readonly string[] {
  const width = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  const [labels, values] = [width(0), width(1)];
  return rows.map(([label, value, more]) => `  ${label.padEnd(labels)}  ${value.padStart(values)}  ${more}`.trimEnd());
}

/** The most frequent types of notifications at the backend. */
function kinds(sides: Sides): string {
  const counts = new Map<string, number>();
  for (const { type } of sides.backend) counts.set(type, (counts.get(type) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a);
  return `signed and verified: ${most.map(([type, n]) => `${n} ${type}`).join(', ')}`;
}
