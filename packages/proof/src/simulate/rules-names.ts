// The rules about what payments are called: by one name each, the MoR's own or one that a person gave, and no refund under a wrong one.
import { namesInFact } from './sim-store.js';
import { isHeard, rowOf, type Sides, type Taken } from './sides.js';
import { type PaymentLine, type RefundLine } from './sim-store.js';

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

/** N1: no two payments are called the same. */
function oneNameEach({ seen }: Sides): string[] {
  const names = seen.payments.flatMap((r) => r.payment_id ?? []);
  return names.filter((name, n) => names.indexOf(name) !== n).map((name) => `N1: two payments are called ${name}`);
}

/** N2: what a payment is called was said of it by somebody; what was said rightly stays, and what the MoR disowned is gone, or asked about. */
function saidNames({ world, seen }: Sides, p: Taken, row: PaymentLine): string[] {
  const { namings, disowned } = world.planted;
  const own = namings.filter((n) => n.reference === p.reference);
  const broken: string[] = [];
  const name = row.payment_id;
  if (name !== null && name !== p.id && !own.some((n) => n.said === name))
    broken.push(`N2: ${p.id} is called ${name} here, as nobody called it`);
  if (name === null && own.some((n) => n.as === 'right'))
    broken.push(`N2: ${p.id} was named by a person and has no name`);
  const refunds = seen.refunds.filter((r) => r.payment_row_id === row.id);
  // A 404 whose body came garbled says nothing of why, and a request that nobody answered while its key was good is not sent again.
  const asked = (r: RefundLine): boolean =>
    r.status === 'unknown' && seen.reviews.some((x) => x.kind === 'refund_stuck' && x.refund_id === r.id);
  const unsure = (r: RefundLine): boolean =>
    (r.failure !== null && (r.failure.code === null || r.failure.code === 'told_by_person')) || asked(r);
  if (name !== null && disowned.has(name) && !refunds.some(unsure))
    broken.push(`N2: the MoR knows no ${name}, and ${p.id} is still called so`);
  const under = refunds.filter((r) => r.status !== 'failed' && !asked(r));
  if (name !== null && name !== p.id && under.length > 0 && !world.planted.isMixedUp(p))
    broken.push(`N2: ${under.length} refunds of ${p.id} stand under the name ${name}, which is not its own`);
  return broken;
}

/** N3: a `payment.captured` that names a payment's id teaches it, and one that names its charge and amount proves it. */
function captured({ world, seen }: Sides, p: Taken, row: PaymentLine): string[] {
  const heard = world.planted.captures.filter((c) => c.paymentId === p.id && isHeard(seen, c.eventId));
  const broken: string[] = [];
  if (heard.some((c) => c.saysId) && row.payment_id !== p.id && !world.planted.isMixedUp(p))
    broken.push(
      `N3: the MoR's payment.captured calls a payment ${p.id}; here it is called ${row.payment_id ?? 'nothing'}`,
    );
  const doubted = world.contradicted.has(row.invoice_id);
  if (heard.some((c) => c.saysAmount === 'right') && row.succeeded_at === null && !doubted)
    broken.push(`N3: the MoR's payment.captured says that ${p.id} was taken; here it is not (${row.mark})`);
  return broken;
}

/** N4: money given back under the name of another payment is told to a person: nobody but him knows whose it was meant to be. */
function mixedUp({ world, seen }: Sides, p: Taken, row: PaymentLine): string[] {
  const wrong = world.planted.namings.find((n) => n.as === 'another' && n.reference === p.reference);
  const refunded = seen.refunds.some((r) => r.payment_row_id === row.id && r.counted);
  if (wrong === undefined || row.payment_id !== wrong.said || !refunded) return [];
  const told = seen.reviews.some((r) => r.kind === 'conflicting_event' && namesInFact(r, wrong.said));
  return told ? [] : [`N4: ${wrong.said} was given back in place of ${p.id}, and nobody was told`];
}
