// The proof of a signup's charge: Crossbill asks the MoR until it knows the charge, and leaves the rest to a person.
import { type Mutable } from '../../../shared/domain/row.js';
import { type ChoiceRule } from '../../../engine/commanded.js';
import { retryAt } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { itemRule } from '../../../engine/items.js';
import { type Lookup } from '../../../engine/lookup.js';
import { accept } from '../../books/rules/collect.js';
import { closePayment } from '../../books/rules/payment-state.js';
import { type UnprovenFact } from '../../../shared/domain/facts/late.js';
import { moveMark, type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type CallOutcome, codesOf } from '../../../shared/domain/ports/call.js';
import { type ChargeState } from '../../../shared/domain/ports/payment-gateway.js';
import {
  PROVE_DOUBLINGS,
  FAILED_READS_SHOWN,
  PROVE_TIMEOUT_MS,
  DAY_MS,
  PROVE_LONGEST_PAUSE_MS,
  PROVE_FIRST_PAUSE_MS,
} from '../../../shared/policy.js';

type Payment = Mutable<PaymentRow>;

/** Asks the MoR about a signup's charge. Only the reply "charged" proves the charge. */
export const chargeLookup: Lookup<{ readonly payment: string; readonly chargeId: string }, CallOutcome<ChargeState>> = {
  name: 'prove-charge',
  wanted: (lane) => {
    for (const { mark, processorChargeId: chargeId, proveDueAt: due, id } of lane.payments)
      if (mark === 'proving' && chargeId !== null && (due === null || lane.isPast(due)))
        return { payment: id, chargeId };
    return null;
  },
  ask: ({ chargeId }, { gateway }) => gateway.lookUpCharge(chargeId),
  apply: (lane, outcome, { payment }) => {
    const p = lane.findPayment(payment);
    if (p === undefined || p.mark !== 'proving') return;
    if (outcome.ok && outcome.value === 'charged') return accept(lane, p, 'the MoR charged it', outcome.answeredAt);
    p.proveAttempts += 1;
    const tries = Math.min(p.proveAttempts, PROVE_DOUBLINGS);
    const isNoted = p.proveAttempts <= FAILED_READS_SHOWN;
    if (!outcome.ok) {
      p.proveDueAt = retryAt(lane.ctx, tries, outcome.retryAfterMs, outcome.kind === 'stopped');
      if (isNoted) lane.log('call', `Crossbill could not ask the MoR for the charge: ${codesOf(outcome)}`, p);
    } else if (outcome.value === 'pending') waitForDebit(lane, p);
    else if (lane.age(p.recordedAt) >= PROVE_TIMEOUT_MS) {
      // the MoR knew the charge before, so the debit has probably failed
      if (p.pendingSince !== null) p.status = 'failed';
      giveUpProof(p);
    } else {
      p.proveDueAt = retryAt(lane.ctx, tries, null);
      if (isNoted) lane.log('call', 'the MoR does not know the charge yet', p);
    }
  },
};
/** Plans the next question after a 202: the MoR knows the charge and has not settled it. A bank debit takes days. */
function waitForDebit(lane: Lane, payment: Payment): void {
  if (payment.pendingSince === null) {
    payment.pendingSince = lane.now;
    const charge = payment.processorChargeId ?? '';
    const text = `the MoR knows charge ${charge} but has not settled it; the mark waits for the settlement`;
    lane.log('call', text, payment);
  }
  const age = lane.age(payment.pendingSince);
  if (age >= lane.settings.bankDebitAlarmAfterDays * DAY_MS) return giveUpProof(payment);
  payment.proveDueAt = lane.in(Math.min(PROVE_LONGEST_PAUSE_MS, Math.max(PROVE_FIRST_PAUSE_MS, age / 2)));
}
/** Ends the search for a proof and leaves the payment to a person. Crossbill has written nothing to Stripe. */
function giveUpProof(payment: Payment): void {
  moveMark(payment, 'parked');
  payment.proveDueAt = null;
}
const PROVEN = 'the charge is proven';
/** Items for signup charges without a proof: the MoR may have taken no money at all. */

export const unprovenItems = itemRule(
  { 'charge-failed': PROVEN, 'debit-unsettled': PROVEN, 'charge-unknown': PROVEN },
  function* (lane) {
    for (const p of lane.payments) {
      // Skip the status `succeeded`: the charge has its proof, but the ledger has the charge for another invoice.
      if (p.mark !== 'parked' || p.succeededAt !== null || p.status === 'succeeded') continue;
      yield { kind: 'signup_unproven', about: p, fact: findWhyUnproven(p) };
    }
  },
);
function findWhyUnproven({ processorChargeId: charge, ...p }: PaymentRow): UnprovenFact {
  const knownSince = p.pendingSince?.toISOString() ?? null;
  if (p.status !== 'failed')
    return knownSince === null
      ? { code: 'charge-unknown', charge, knownSince }
      : { code: 'debit-unsettled', charge, since: knownSince };
  if (p.verdictAt === null) return { code: 'charge-unknown', charge, knownSince };
  return { code: 'charge-failed', charge, reason: p.declineCode ?? 'failed' };
}

export const chooseUnproven: ChoiceRule = (lane, { paymentRowId }, { resolution, by }) => {
  const p = lane.findPayment(paymentRowId);
  if (p === undefined) return null;
  if (resolution === 'apply') accept(lane, p, `${by} confirmed it`);
  else if (resolution === 'dismiss') {
    if (p.mark === 'parked') closePayment(p);
  } else {
    // `retry` starts the search for a proof again, with the full time for a bank debit.
    moveMark(p, 'proving');
    Object.assign(p, { status: 'processing', proveDueAt: lane.now, pendingSince: null });
  }
  return null;
};
