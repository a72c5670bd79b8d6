// The rules about failed renewals: a paid invoice is never charged again, each failed renewal has a next step or an
// end, and no renewal has more tries than its schedule.
import { firstChargeName } from '#src/core/books/rules/own-request.js';
import { retryName } from '#src/features/retries/rules/retry.js';
import { REFUSAL_KINDS } from '#src/shared/domain/retry.js';
import { type Invoice } from '@crossbill/sandbox/stripe/model.js';
import { type Sides } from './sides.js';
import { type InvoiceLine } from '../machine/sim-repository.js';

/**
 * The longest time from Crossbill's read of an unpaid invoice to the MoR's charge. Crossbill takes ten seconds at most,
 * the MoR two seconds. A simulated process may also pause for minutes between decision and request.
 */
const UNDER_WAY_MS = 20 * 60_000;

export function retryRules(sides: Sides): string[] {
  if (sides.world.settings.retrySchedule === null) return [];
  return [
    ...orderRules(sides),
    ...[...sides.world.sandbox.stripe.state.invoices.values()].flatMap((i) => {
      const row = sides.seen.invoices.find((r) => r.invoice_id === i.id);
      return row === undefined
        ? []
        : [
            ...chargeRules(sides, i, row),
            ...cardRules(sides, i, row),
            ...endRules(sides, i, row),
            ...nextRules(sides, row),
          ];
    }),
  ];
}

/**
 * Y2: Crossbill stores each charge request before the MoR receives it. One case is allowed after a restore: the
 * restored database lacks the request, and the invoice has been paid since the backup.
 */
function orderRules({ world, seen }: Sides): string[] {
  const written = new Set([
    ...seen.invoices.flatMap((i) => i.retries?.retries.map((r) => r.ref) ?? []),
    ...seen.calls.flatMap((m) => (m.kind === 'relay_event' ? [m.subject] : [])),
  ]);
  const isForgotten = (id: string): boolean =>
    world.gaps.length > 0 &&
    seen.invoices.some(
      (i) =>
        world.sandbox.stripe.state.invoices.get(i.invoice_id)?.status === 'paid' &&
        [1, 2, 3, 4].some((n) => {
          const retry = (i.retries?.retries.length ?? 0) + n;
          return retryName('evt_crossbill', i.invoice_id, retry) === id || firstChargeName(i.invoice_id, n) === id;
        }),
    );
  return [...world.sandbox.cards.book.heardEvents]
    .filter((id) => id.startsWith('evt_crossbill_') && !written.has(id) && !isForgotten(id))
    .map((id) => `Y2: the MoR got a charge request ${id} without a row here`);
}

/**
 * Y1: by its own records, the MoR charges no paid invoice again. Y2: Crossbill makes no more automatic tries than the
 * schedule has steps.
 */
function chargeRules({ world, seen }: Sides, invoice: Invoice, row: InvoiceLine): string[] {
  const broken: string[] = [];
  // If the MoR refuses a link because of its country, Crossbill requests a second link with the country of the
  // settings. Both requests count as one try.
  const isReplaced = (ref: string): boolean => seen.objects.some((o) => o.id === ref && o.status === 'REPLACED');
  const charges = [...world.sandbox.mor.payments.values()].filter(
    (p) => p.kind === 'renewal' && p.merchantInvoiceId === invoice.id && p.method === 'card',
  );
  const paidMs = invoice.paidAt === null ? Infinity : invoice.paidAt * 1000;
  const taken = charges.find((p) => p.status === 'succeeded');
  // Skips invoices the MoR charged again on its own.
  for (const p of world.triedByMor.has(invoice.id) ? [] : charges) {
    if (p.createdAtMs > paidMs + UNDER_WAY_MS) broken.push(`Y1: ${invoice.id} is paid and was charged again (${p.id})`);
    if (taken !== undefined && p.createdAtMs > taken.createdAtMs)
      broken.push(`Y1: ${invoice.id} was charged by ${taken.id} and then again (${p.id})`);
  }
  const own = (row.retries?.retries ?? []).filter(
    (r) => r.by === null && r.method === null && !r.withdrawn && !isReplaced(r.ref),
  );
  for (const kind of REFUSAL_KINDS) {
    const made = own.filter((r) => r.kind === kind).length;
    const steps = world.settings.retrySchedule?.[kind].length ?? 0;
    if (made > steps) broken.push(`Y2: ${invoice.id} had ${made} automatic tries, and its schedule has ${steps} steps`);
  }
  return broken;
}

/**
 * Y5: Crossbill tries an invoice only one time with each new card of its customer, and tries each open refused renewal
 * after a new card.
 */
function cardRules({ world }: Sides, invoice: Invoice, row: InvoiceLine): string[] {
  const given = world.cardsGiven.get(invoice.customer) ?? 0;
  const tries = (row.retries?.retries ?? []).filter((r) => r.method !== null && !r.withdrawn).map((r) => r.method);
  const broken = tries.length === new Set(tries).size ? [] : [`Y5: ${invoice.id} was tried twice with one card`];
  const isLeft = row.status === 'open' && row.platform_status === 'open' && row.retries !== null;
  const untried = given > 0 && isLeft && tries.length === 0 && world.gaps.length === 0;
  return untried
    ? [...broken, `Y5: ${invoice.id} is open, its customer gave another card, and no try followed`]
    : broken;
}

/** Y3: Crossbill never gives up a renewal already paid on Stripe. */
function endRules({ world }: Sides, invoice: Invoice, row: InvoiceLine): string[] {
  const subscription = world.sandbox.stripe.state.subscriptions.get(invoice.subscription ?? '');
  const how = row.retries?.ended?.how;
  const givenUp = invoice.uncollectibleAt ?? (how === 'cancel' ? (subscription?.canceledAt ?? null) : null);
  if (givenUp === null || invoice.paidAt === null || givenUp * 1000 <= invoice.paidAt * 1000 + UNDER_WAY_MS) return [];
  return [`Y3: ${invoice.id} was paid, and given up afterwards (${how ?? 'by nobody'})`];
}

/** Y4: a refused renewal has a next try or an end, an item for a person, or a payment page for the customer. */
function nextRules({ seen }: Sides, row: InvoiceLine): string[] {
  const { retries, invoice_id: id } = row;
  if (retries === null || row.status !== 'open' || row.platform_status === 'uncollectible') return [];
  const asked = seen.reviews.some((r) => r.invoice_id === id && r.status === 'open');
  const payable = seen.objects.some(
    (o) => o.invoice_id === id && ((o.kind === 'payment_link' && o.status === 'PAYABLE') || o.kind === 'proforma'),
  );
  const going = row.next_try_at !== null || retries.ended !== null || retries.waitingSince !== null;
  return going || asked || payable ? [] : [`Y4: ${id} got a refusal and nothing follows: no next try, no end, no item`];
}
