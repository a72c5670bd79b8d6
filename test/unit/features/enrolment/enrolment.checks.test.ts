// What `crossbill doctor` says of enrolled customers with a card at Stripe.
import { expect, it } from '@jest/globals';
import { ownCardChecks } from '../../../../src/features/enrolment/enrolment.checks.js';
import { type EnrolmentService } from '../../../../src/features/enrolment/enrolment.service.js';
import { type StripeClient } from '../../../../src/frames/stripe/stripe-client.js';
import { type BillingReader } from '../../../../src/shared/domain/ports/billing-reader.js';
import { FAILURES, failing } from '../../../support/builders/stripe-answers.js';

it.each(FAILURES)('%s, the check for cards at Stripe names a step that fits', async (_, status, step) => {
  const reader = { readCustomer: failing(status) } as Partial<BillingReader> as BillingReader;
  const client = { read: failing(status) } as unknown as StripeClient;
  const [check] = await ownCardChecks(['cus_1'], {} as EnrolmentService, reader, client);
  expect(check?.todo).toContain(step);
});
