// The Nest wiring: both ports come out of the module, over one client and the budget that was given.
import { Global, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { expect, it } from '@jest/globals';
import { BillingPlatform } from '../../../../src/shared/domain/ports/billing-platform.js';
import { BillingReader } from '../../../../src/shared/domain/ports/billing-reader.js';
import { RequestBudget } from '../../../../src/shared/domain/ports/request-budget.js';
import { InMemoryRequestBudget } from '../../../support/fakes/request-budget.js';
import { StripeModule } from '../../../../src/frames/stripe/stripe.module.js';
import { aRecord, anInvoice, API_KEY, reply, startStub } from '../../../support/fakes/stripe-stub.js';

const budget = new InMemoryRequestBudget();

@Global()
@Module({ providers: [{ provide: RequestBudget, useValue: budget }], exports: [RequestBudget] })
class BudgetModule {}

function optionsFor(apiBase: string) {
  return { apiKey: API_KEY, apiBase, customPaymentMethodType: 'cpmt_1' };
}

it('the Stripe module provides its parts to the application, and all calls use the request budget', async () => {
  const stub = await startStub(reply(200, anInvoice()), reply(200, aRecord()));
  const stripe = StripeModule.registerAsync({ useFactory: () => optionsFor(stub.base) });
  const app = await Test.createTestingModule({ imports: [BudgetModule, stripe] }).compile();
  expect(await app.get(BillingPlatform).readInvoice('in_1')).toMatchObject({ ok: true });
  expect(await app.get(BillingReader).readPaymentRecord('pr_1')).toMatchObject({ ok: true });
  expect(budget.taken).toEqual(['invoices.retrieve', 'payment_records.retrieve']);
  await app.close();
  await stub.close();
});

it.each(['ftp://a.example', 'http://a.example/v1', 'http://user@a.example', 'nonsense'])(
  'the Stripe module does not start with the base URL %s',
  async (apiBase) => {
    const stripe = StripeModule.registerAsync({ useFactory: () => optionsFor(apiBase) });
    await expect(Test.createTestingModule({ imports: [BudgetModule, stripe] }).compile()).rejects.toThrow();
  },
);
