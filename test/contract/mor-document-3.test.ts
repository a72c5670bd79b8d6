// Document 3 through the client against the sandbox: signup intents, refunds, and their errors.
import { CardIntents, Invoices, Refunds } from '@crossbill/mor';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type SignupCall } from '../../src/shared/domain/ports/payment-gateway.js';
import { MorPaymentGateway } from '../../src/frames/mor/mor-payment-gateway.js';
import { aMorRig, failureOf, type MorRig, valueOf } from './mor-rig.js';

const payment: SignupCall = {
  kind: 'create_payment_intent',
  amountMinor: 2990n,
  currency: 'EUR',
  customer: { id: 'cus_1', email: 'a@heron.example' },
  description: 'first month',
  taxCalculationId: null,
};

let rig: MorRig;
let gateway: MorPaymentGateway;
beforeEach(async () => {
  rig = await aMorRig();
  const { transport } = rig;
  gateway = new MorPaymentGateway(
    { psp: 'cardpsp', setupCustomer: 'send' },
    new CardIntents(transport),
    new Refunds(transport),
    new Invoices(transport),
  );
});
afterEach(() => rig.close());

async function aPaidSignup(): Promise<{ paymentId: string; chargeId: string }> {
  const intent = valueOf(await gateway.createIntent(gateway.encode(payment), 'signup-1'));
  await rig.control(`/intents/${intent.intentId}/confirm`, { outcome: 'succeed' });
  const { data } = (await rig.control('/mor/payments', {}, 'GET')) as { data: Record<string, string>[] };
  const [paid] = data;
  return { paymentId: paid?.id ?? '', chargeId: paid?.processor_charge_id ?? '' };
}

function refund(paymentId: string, amountMinor: bigint) {
  return gateway.encode({ kind: 'create_refund', paymentId, amountMinor, reason: 'duplicate', metadata: { a: 1 } });
}

it('a signup at the MoR gives a client secret, an intent and a customer, and the same key gives the same intent', async () => {
  const first = valueOf(await gateway.createIntent(gateway.encode(payment), 'k'));
  const again = valueOf(await gateway.createIntent(gateway.encode(payment), 'k'));
  expect(first.clientSecret).toContain('_secret_');
  expect(again).toEqual(first);
  const changed = await gateway.createIntent(gateway.encode({ ...payment, amountMinor: 1n }), 'k');
  expect(failureOf(changed)).toMatchObject({ kind: 'refused', status: 409, code: 'idempotency_conflict' });
});

it('the MoR makes a setup intent for a trial, and refuses an unknown method type or tax calculation', async () => {
  const setup = (more: { paymentMethodTypes?: string[]; taxCalculationId?: string }) =>
    gateway.encode({
      kind: 'create_setup_intent',
      customer: { id: 'cus_1' },
      paymentMethodTypes: null,
      taxCalculationId: null,
      ...more,
    });
  const call = setup({ paymentMethodTypes: ['card', 'sepa_debit'] });
  expect(valueOf(await gateway.createIntent(call, 'k')).status).toBe('requires_payment_method');
  const odd = setup({ paymentMethodTypes: ['cheque'] });
  expect(failureOf(await gateway.createIntent(odd, 'k2'))).toMatchObject({
    kind: 'refused',
    code: 'invalid_request',
  });
  const bound = setup({ taxCalculationId: 'none' });
  expect(failureOf(await gateway.createIntent(bound, 'k3'))).toMatchObject({ code: 'tax_calculation_not_found' });
});

it('the MoR client gets a new token after the MoR revokes its token', async () => {
  valueOf(await gateway.createIntent(gateway.encode(payment), 'k'));
  await rig.control('/tokens/revoke');
  valueOf(await gateway.createIntent(gateway.encode(payment), 'k'));
});

it('the MoR refuses a signup of a suspended merchant with the code merchant_suspended', async () => {
  await rig.control('/merchant', { suspended: true });
  const outcome = await gateway.createIntent(gateway.encode(payment), 'k');
  expect(failureOf(outcome)).toMatchObject({ kind: 'stopped', status: 403, code: 'merchant_suspended' });
});

it('the MoR refuses a signup in an unsupported currency', async () => {
  const call = gateway.encode({ ...payment, currency: 'XTS' });
  expect(failureOf(await gateway.createIntent(call, 'k'))).toMatchObject({
    status: 422,
    code: 'unsupported_currency',
  });
});

it('if the card processor is down, the MoR client reports a temporary failure, and a retry under the same key succeeds', async () => {
  await rig.control('/faults', {
    path: '/api/payments/*',
    action: 'status',
    status: 503,
    code: 'psp_unavailable',
    times: 1,
  });
  const call = gateway.encode(payment);
  expect(failureOf(await gateway.createIntent(call, 'k'))).toMatchObject({ kind: 'retry', code: 'psp_unavailable' });
  expect(valueOf(await gateway.createIntent(call, 'k')).intentId).toBeTruthy();
});

it('the MoR refunds a payment in parts, and refuses a refund above the remaining amount', async () => {
  const { paymentId } = await aPaidSignup();
  const part = valueOf(await gateway.createRefund(refund(paymentId, 990n), 'r-1'));
  expect(part).toMatchObject({
    paymentId,
    amountMinor: 990n,
    currency: 'EUR',
    status: 'succeeded',
    reason: 'duplicate',
  });
  expect(valueOf(await gateway.createRefund(refund(paymentId, 990n), 'r-1'))).toEqual(part);
  expect(failureOf(await gateway.createRefund(refund(paymentId, 2001n), 'r-2'))).toMatchObject({
    code: 'invalid_request',
  });
  valueOf(await gateway.createRefund(refund(paymentId, 2000n), 'r-3'));
  const over = failureOf(await gateway.createRefund(refund(paymentId, 1n), 'r-4'));
  expect(over).toMatchObject({ kind: 'refused', status: 422, code: 'payment_not_refundable' });
});

it('after a lost answer the MoR client reports a refund as unknown, and a repeat under the same key returns the refund', async () => {
  const { paymentId } = await aPaidSignup();
  for (const action of ['drop_after', 'garble']) {
    await rig.control('/faults', { path: '/api/payments/*/refund', method: 'POST', action, times: 1 });
    expect(failureOf(await gateway.createRefund(refund(paymentId, 500n), action)).kind).toBe('unknown');
    valueOf(await gateway.createRefund(refund(paymentId, 500n), action));
  }
  const { data } = (await rig.control(`/mor/refunds?payment=${paymentId}`, {}, 'GET')) as { data: unknown[] };
  expect(data).toHaveLength(2);
});

it('the MoR refuses a refund of an unknown payment', async () => {
  expect(failureOf(await gateway.createRefund(refund('pay_none', 1n), 'k'))).toMatchObject({
    code: 'payment_not_found',
  });
});

it("the MoR confirms a charge only after making the charge's invoice, and reports a made-up charge id as unknown", async () => {
  const { chargeId } = await aPaidSignup();
  // The MoR makes the invoice first: until then it knows the payment, and this is no proof.
  let known = valueOf(await gateway.lookUpCharge(chargeId));
  while (known === 'pending') {
    await rig.control('/clock', { advance_sec: 5 });
    known = valueOf(await gateway.lookUpCharge(chargeId));
  }
  expect(known).toBe('charged');
  expect(valueOf(await gateway.lookUpCharge('ch_none'))).toBe('unknown');
});
