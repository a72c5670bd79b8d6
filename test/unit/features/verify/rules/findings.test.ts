// The identity and the words of verify's differences.
import { expect, it } from '@jest/globals';
import { type Money } from '../../../../../src/shared/domain/money.js';
import { type Cover, finding } from '../../../../../src/features/verify/rules/findings.js';

const eur = (minor: bigint): Money => ({ minor, currency: 'EUR' });
const facts = { record: 'pr_1', refunded: eur(300n), mirrored: eur(0n) };
const ids = { invoiceId: 'in_1', paymentId: 'pay_1', refundId: 'ref_1', eventId: 'evt_1', objectId: 'cn_1' };

it('a difference keeps its id in the next run and after a review item opens; different facts give a different id', () => {
  const { id } = finding.moreRefunded(ids, facts);
  expect(id).toMatch(/^dif_[0-9a-f]{24}$/);
  expect(finding.moreRefunded({ ...ids, reviewId: 'rev_1' }, { ...facts }).id).toBe(id);
  const others = [
    ...Object.keys(ids).flatMap((name) => [{ [name]: 'other' }, { [name]: null }]),
    { invoiceId: 'pay_1', paymentId: 'in_1' },
  ].map((over) => finding.moreRefunded({ ...ids, ...over }, facts));
  const otherFacts = [eur(301n), { minor: 300n, currency: 'USD' }].map((refunded) =>
    finding.moreRefunded(ids, { ...facts, refunded }),
  );
  const all = [id, finding.lessRefunded(ids, facts).id, ...[...others, ...otherFacts].map((d) => d.id)];
  expect(new Set(all).size).toBe(all.length);
});

it('a difference carries the ids of the invoice and object that it concerns, and no other ids', () => {
  expect(finding.recordGone({ invoiceId: 'in_1', objectId: 'pr_1' }, { record: 'pr_1' })).toMatchObject({
    ...{ kind: 'charged_not_marked', repair: 'person', invoiceId: 'in_1', objectId: 'pr_1' },
    ...{ paymentId: null, refundId: null, eventId: null, reviewId: null },
    detail: 'Stripe has no payment record pr_1.',
  });
});

it('the sentence of a credit note that Crossbill did not make says whether the MoR may still refund the amount', () => {
  const says = (cover: Cover): string => finding.notedByHand({}, { note: 'cn_9', amount: eur(1000n), cover }).detail;
  const refund = { by: 'refund', refund: 'rfnd_1', unfinished: null, note: null } as const;
  expect(says({ by: 'nothing' })).toBe('Credit note cn_9 gives back 10.00 EUR. Crossbill knows no equal refund.');
  expect(says({ by: 'loss', lost: eur(1000n) })).toMatch(/If the note writes this off, refund nothing\.$/);
  expect(says(refund)).toMatch(/no other note: do not refund the payment again\.$/);
  expect(says({ ...refund, unfinished: 'pending' })).toMatch(/is pending .*: do not refund the payment again\.$/);
  expect(says({ ...refund, note: 'cn_1' })).toMatch(/own note cn_1\..*: refund nothing more\.$/);
});

it('the sentence of an overpaid invoice names the part of the surplus that the MoR refunded', () => {
  const says = (refunded: Money | null): string => finding.overpaid({}, { surplus: eur(110n), refunded }).detail;
  expect(says(null)).toBe("The invoice is overpaid by 1.10 EUR. Stripe credited this to the customer's balance.");
  expect(says(eur(80n))).toMatch(/The MoR refunded 0\.80 EUR of it: deduct this from the balance\.$/);
});
