// A tax transaction that the MoR has already, as after a backup was restored: found by its reference, and taken only for the same payment.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { encodeTax, MorTaxDesk } from '../../src/mor/mor-tax-desk.js';
import { TaxCalculations } from '../../src/mor/tax-calculations.js';
import { TaxTransactions } from '../../src/mor/tax-transactions.js';
import { aRig, json, type Rig } from './mor-peer.js';

let rig: Rig & { close: () => Promise<void> };
let desk: MorTaxDesk;

beforeEach(async () => {
  rig = await aRig();
  desk = new MorTaxDesk(new TaxCalculations(rig.transport), new TaxTransactions(rig.transport, rig.clock));
});
afterEach(() => rig.close());

const asked = encodeTax('stripe', {
  kind: 'commit_tax',
  taxCalculationId: '4c8e6a43-6d2c-4a52-9f0a-0d7c1c8d6a11',
  reference: 'in_1',
  paymentReference: 'ch_1',
});

const transaction = (paymentReference: string | null): object => ({
  transactionId: 'tx_1',
  merchantTransactionReference: 'in_1',
  currency: 'EUR',
  taxAmount: '4.77',
  totalAmount: '29.90',
  lineItems: [{ lineItemId: 'line_1', itemTotalAmount: '29.90' }],
  ...(paymentReference === null ? {} : { payment: { processor: 'stripe', paymentReference } }),
});

/** The commit is refused with `field` named; a list has what is given. */
function answers(field: string, listed: object): void {
  const refused = { code: 'invalid_state', errors: [{ field, message: 'was used with another tax calculation' }] };
  rig.peer.reply = (req, res) => (req.method === 'POST' ? json(400, refused) : json(200, listed))(req, res);
}

const requests = (): string[] => rig.peer.calls.map(({ method, path }) => `${method} ${path}`);

describe('a commit under a reference that has its transaction', () => {
  it('is done when that transaction is of the same payment', async () => {
    answers('merchantTransactionReference', { transactions: [transaction('ch_1')] });
    expect(await desk.commit(asked)).toMatchObject({
      ok: true,
      value: { transactionId: 'tx_1', lines: [{ lineItemId: 'line_1', gross: 2990n }] },
    });
    expect(requests()).toEqual([
      'POST /api/tax/transactions',
      'GET /api/tax/transactions?merchantTransactionReference=in_1',
    ]);
  });

  it.each([[[transaction('ch_2')]], [[transaction(null)]], [[]]])(
    'stays refused, for a person, when it is of another payment, of none, or gone: %#',
    async (transactions) => {
      answers('merchantTransactionReference', { transactions });
      expect(await desk.commit(asked)).toMatchObject({ ok: false, kind: 'refused', code: 'invalid_state' });
    },
  );

  it('is tried again later when the MoR cannot be asked', async () => {
    answers('merchantTransactionReference', {});
    const { reply } = rig.peer;
    rig.peer.reply = (req, res) => (req.method === 'POST' ? reply : json(503, {}))(req, res);
    expect(await desk.commit(asked)).toMatchObject({ ok: false, kind: expect.stringMatching(/retry|unknown/) });
  });

  it('is not looked for when the calculation itself was refused', async () => {
    answers('taxCalculationId', { transactions: [transaction('ch_1')] });
    expect(await desk.commit(asked)).toMatchObject({ ok: false, kind: 'refused' });
    expect(requests()).toEqual(['POST /api/tax/transactions']);
  });
});
