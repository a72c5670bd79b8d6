// The rules about the MoR's payment ids in Crossbill, called names: each payment has its own id, from the MoR or from a
// person, and no refund uses a wrong id.
import { namesInFact } from '../machine/sim-repository.js';
import { isHeard, rowOf, type Sides, type Taken } from './sides.js';
import { type PaymentLine, type RefundLine } from '../machine/sim-repository.js';

export function nameRules(sides: Sides): string[] {
  const { seen, taken } = sides;
  return [
    ...oneNameEach(sides),
    ...taken.flatMap((p) => {
      const row = rowOf(seen, p);
      return row === undefined
        ? []
        : [...saidNames(sides, p, row), ...captured(sides, p, row), ...mixedUp(sides, p, row)];
    }),
  ];
}

/** N1: no two payments have the same id. */
function oneNameEach({ seen }: Sides): string[] {
  const names = seen.payments.flatMap((r) => r.payment_id ?? []);
  return names.filter((name, n) => names.indexOf(name) !== n).map((name) => `N1: two payments are called ${name}`);
}

/**
 * N2: an id comes from the MoR or from a person. A right id stays. If the MoR does not know an id, Crossbill removes
 * it, or an item asks a person.
 */
function saidNames({ world, seen }: Sides, payment: Taken, row: PaymentLine): string[] {
  const { namings, disowned } = world.planted;
  const own = namings.filter((n) => n.reference === payment.reference);
  const broken: string[] = [];
  const name = row.payment_id;
  if (name !== null && name !== payment.id && !own.some((n) => n.said === name))
    broken.push(`N2: ${payment.id} is called ${name} here, as nobody called it`);
  if (name === null && own.some((n) => n.as === 'right'))
    broken.push(`N2: ${payment.id} was named by a person and has no name`);
  const refunds = seen.refunds.filter((r) => r.payment_row_id === row.id);
  // A garbled 404 gives no reason, so the refund stays unknown. When its key expires, an item asks a person.
  const asked = (refund: RefundLine): boolean =>
    refund.status === 'unknown' && seen.reviews.some((x) => x.kind === 'refund_stuck' && x.refund_id === refund.id);
  const unsure = (refund: RefundLine): boolean =>
    (refund.failure !== null && (refund.failure.code === null || refund.failure.code === 'told_by_person')) ||
    asked(refund);
  if (name !== null && disowned.has(name) && !refunds.some(unsure))
    broken.push(`N2: the MoR knows no ${name}, and ${payment.id} is still called so`);
  const under = refunds.filter((r) => r.status !== 'failed' && !asked(r));
  if (name !== null && name !== payment.id && under.length > 0 && !world.planted.isMixedUp(payment))
    broken.push(`N2: ${under.length} refunds of ${payment.id} stand under the foreign name ${name}`);
  return broken;
}

/**
 * N3: from a `payment.captured` with a payment's id, Crossbill takes the id. A `payment.captured` with charge and
 * amount proves the payment.
 */
function captured({ world, seen }: Sides, payment: Taken, row: PaymentLine): string[] {
  const heard = world.planted.captures.filter((c) => c.paymentId === payment.id && isHeard(seen, c.eventId));
  const broken: string[] = [];
  if (heard.some((c) => c.saysId) && row.payment_id !== payment.id && !world.planted.isMixedUp(payment))
    broken.push(
      `N3: the MoR's payment.captured calls a payment ${payment.id}; here its name is ${row.payment_id ?? 'empty'}`,
    );
  const doubted = world.contradicted.has(row.invoice_id);
  if (heard.some((c) => c.saysAmount === 'right') && row.succeeded_at === null && !doubted)
    broken.push(`N3: the MoR's payment.captured proves ${payment.id}; here it stays unproven (${row.mark})`);
  return broken;
}

/**
 * N4: if the MoR refunded another payment because of a wrong id, an item reports it: only a person knows the right
 * customer.
 */
function mixedUp({ world, seen }: Sides, payment: Taken, row: PaymentLine): string[] {
  const wrong = world.planted.namings.find((n) => n.as === 'another' && n.reference === payment.reference);
  const refunded = seen.refunds.some((r) => r.payment_row_id === row.id && r.counted);
  if (wrong === undefined || row.payment_id !== wrong.said || !refunded) return [];
  const notified = seen.reviews.some((r) => r.kind === 'conflicting_event' && namesInFact(r, wrong.said));
  return notified ? [] : [`N4: ${wrong.said} was given back in place of ${payment.id}, without an item`];
}
