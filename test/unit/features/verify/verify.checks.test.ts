// What `crossbill doctor` says of Stripe's events and their arrival.
import { expect, it } from '@jest/globals';
import { arrivalChecks } from '../../../../src/features/verify/verify.checks.js';
import { type RecordsRepository } from '../../../../src/features/verify/records.repository.js';
import { type VerifyRepository } from '../../../../src/features/verify/verify.repository.js';
import { type BillingEventFacts, type BillingReader } from '../../../../src/shared/domain/ports/billing-reader.js';
import { reported } from '../../../support/builders/reported.js';
import { reply, FAILURES, failing } from '../../../support/builders/stripe-answers.js';

it('the command `crossbill doctor` fails on a Stripe account with a too old default API version', async () => {
  const event = (name: string): BillingEventFacts => ({
    eventId: name,
    type: 'invoice.created',
    createdAt: new Date(),
    about: { id: null, createdAt: null },
    movesBalance: false,
    body: Buffer.from(reported(name)),
  });
  const books = {
    installedAt: () => Promise.resolve(new Date(0)),
    records: { unknownEvents: () => Promise.resolve(new Set<string>()) } as Partial<RecordsRepository>,
  } as Partial<VerifyRepository>;
  const level = async (name: string) => {
    const reader = { listEvents: () => reply({ items: [event(name)], unreadable: [], next: null }) };
    return (await arrivalChecks(reader as Partial<BillingReader> as BillingReader, books as VerifyRepository)).map(
      (c) => c.state,
    );
  };
  expect(await level('14-1-updated')).toEqual(['fail']);
  expect(await level('01-rendering-new')).toEqual(['ok']);
});

it.each(FAILURES)("%s, the check of the arrival of Stripe's events names a step that fits", async (_, status, step) => {
  const books = { installedAt: () => Promise.resolve(new Date(0)) } as Partial<VerifyRepository> as VerifyRepository;
  const reader = { listEvents: failing(status) } as Partial<BillingReader> as BillingReader;
  const [check] = await arrivalChecks(reader, books);
  expect(check?.todo).toContain(step);
});
