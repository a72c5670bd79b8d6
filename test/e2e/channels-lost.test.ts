// Lost news of the MoR, and Crossbill's automatic help: links for failed renewals, and reads of everything without an
// event.
import { afterEach, describe, expect, it } from '@jest/globals';
import { cli } from '../cli/rig.js';
import {
  eventNamed,
  loseNext,
  PROFORMA,
  reviewsOf,
  sendEvent,
  stripeStatus,
  timePasses,
} from '../support/rigs/channels.js';
import { type Json, type Subscriber, useWorld } from '../support/rigs/world.js';
import { resolve } from './support/story.js';

const world = useWorld({
  RECOVERY_LINK_JURISDICTION: 'GB',
  RECOVERY_LINK_RETURN_URL: 'https://shop.example/thanks',
  BILLING_DRAFT_POLICY: 'finalize',
});
afterEach(async () => {
  await world.control('DELETE', '/faults');
});

const invoiceOf = async (id: string): Promise<Json> => (await world.api('GET', `/v1/invoices/${id}`)).body;
const linksOf = (invoice: Json): Json[] => invoice['payment_links'] as Json[];
const proformasOf = (invoice: Json): Json[] => invoice['proformas'] as Json[];
const seenAs = (id: string, what: string, holds: (invoice: Json) => boolean): Promise<Json> =>
  world.until(what, () => invoiceOf(id), holds);
/** Until something is so, time passing all the while. */
const inTime = (id: string, what: string, holds: (invoice: Json) => boolean): Promise<Json> =>
  world.until(
    what,
    async () => {
      await timePasses(world, id);
      return invoiceOf(id);
    },
    holds,
  );

async function renewal(outcome: string): Promise<{ id: string; s: Subscriber }> {
  const s = await world.paidSubscriber();
  await world.control('POST', '/cards', { customer_id: s.customerId, outcome });
  return { id: await world.renew(s.subscriptionId), s };
}

/** A renewal with a final refusal, and its link. */
async function linked(outcome = 'decline'): Promise<{ id: string; s: Subscriber; link: Json }> {
  const { id, s } = await renewal(outcome);
  await world.invoice(id, 'open');
  await world.advance(3_700);
  const made = await seenAs(id, 'a link was made', (i) => linksOf(i)[0]?.['status'] === 'PAYABLE');
  return { id, s, link: linksOf(made)[0] ?? {} };
}

async function withProforma(): Promise<{ id: string; proformaId: string }> {
  const { id } = await renewal('bank_debit'); // no verdict for days: no automatic link
  await world.advance(3_700);
  await world.stripe.invoices.retrieve(id);
  const made = await world.api('POST', `/v1/invoices/${id}/proforma`, PROFORMA);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return { id, proformaId: String(made.body['id']) };
}

describe('a failed renewal gets a link automatically', () => {
  it.each(['decline', 'requires_action'])(
    "when the MoR's charge ends in %s, Crossbill makes one payment link, and marks the invoice paid after the link's payment",
    async (outcome) => {
      const { id, link } = await linked(outcome);
      expect(link).toMatchObject({ pricedAmount: { amount: '29.90', currency: 'EUR' }, url: expect.any(String) });
      const asked = await world.api('POST', `/v1/invoices/${id}/payment-link`, {
        jurisdiction: 'GB',
        return_url: 'https://shop.example/other',
      });
      expect(asked.body['id']).toBe(link['id']);
      await world.control('POST', `/payment-links/${String(link['id'])}/pay`, {});
      const paid = await world.invoice(id, 'paid');
      expect(linksOf(paid)).toHaveLength(1);
      expect(paid['reviews']).toEqual([]);
      expect(await stripeStatus(world, id)).toBe('paid');
      const explained = await cli(['explain', String(link['id'])], world.env);
      expect(explained.code).toBe(0);
      const story = [
        `Payment link ${String(link['id'])}: PAID, 29.90 EUR`,
        'made automatically',
        outcome === 'decline' ? 'Payment failed' : 'Payment requires action',
        'Make a payment link of 29.90 EUR (GB): the renewal was not paid',
        'Requested a payment link',
        'Payment captured',
        'The link confirms the payment',
        'is marked',
      ];
      for (const line of story) expect(explained.out).toContain(line);
    },
  );

  it("Crossbill makes one payment link for a failed renewal even when the MoR's response is lost", async () => {
    await world.control('DELETE', '/requests');
    const fault = { side: 'mor', method: 'POST', path: '/api/payment-links', times: 1, action: 'drop_after' };
    await world.fault(fault);
    const { id } = await linked();
    expect(linksOf(await invoiceOf(id))).toHaveLength(1);
    const log = await world.control('GET', '/requests?side=mor&method=POST&path=/api/payment-links');
    const keys = (log.body['data'] as Json[]).map(
      (r) => /crossbill:create_payment_link:[^"\\]*/.exec(JSON.stringify(r))?.[0],
    );
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
  });

  it('if the card pays a renewal with an open payment link, a `double_payment` item warns of the link', async () => {
    const { id, s, link } = await linked();
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'succeed' });
    await world.control('POST', '/mor/retry', { invoice_id: id });
    await world.invoice(id, 'paid');
    const [item] = await reviewsOf(world, id, 'double_payment');
    expect(item).toMatchObject({ fact: { code: 'still-payable', what: 'payment_link', object: link['id'] } });
  });

  it("Crossbill opens a review item when the MoR refuses a payment link, and the operator's retry makes the link", async () => {
    const fault = { side: 'mor', path: '/api/payment-links', action: 'status', status: 409 };
    await world.fault({ ...fault, body: { code: 'no_active_arrangement', errors: [] } });
    const { id } = await renewal('decline');
    await world.invoice(id, 'open');
    await world.advance(3_700);
    const [item] = await reviewsOf(world, id, 'effect_failed');
    expect(item).toMatchObject({ fact: { code: 'recovery-refused', status: 409, error: 'no_active_arrangement' } });
    const retried = await resolve(world, item, 'retry');
    expect(retried.status).toBe(200);
    await seenAs(id, 'it is made', (i) => linksOf(i)[0]?.['status'] === 'PAYABLE');
  });
});

describe('Crossbill finds unreported facts by reading at the MoR', () => {
  it('when payment.captured is lost, Crossbill finds the payment by reading the payment link at the MoR', async () => {
    const { id, link } = await linked();
    await loseNext(world, 'payment.captured');
    await world.control('POST', `/payment-links/${String(link['id'])}/pay`, {});
    await inTime(id, 'the invoice is paid', (i) => i['status'] === 'paid');
    const payments = ((await invoiceOf(id))['payments'] as Json[]).filter((p) => p['origin'] === 'payment_link');
    expect(payments).toMatchObject([{ amount: 2990, mark: 'confirmed' }]);
  });

  it("when the MoR's event is lost, Crossbill reads at the MoR whether the proforma invoice was issued or failed", async () => {
    const { id, proformaId } = await withProforma();
    await loseNext(world, 'proforma_invoice.issued');
    await world.advance(60);
    await inTime(id, 'it is issued', (i) => proformasOf(i)[0]?.['status'] === 'ISSUED');
    expect((await world.api('GET', `/v1/invoices/${id}/proforma`)).body['id']).toBe(proformaId);

    const other = await withProforma();
    await loseNext(world, 'proforma_invoice.issuance_failed');
    await world.control('POST', `/proformas/${other.proformaId}/fail`, { message: 'the VAT number is not known' });
    const failed = await inTime(other.id, 'it failed', (i) => proformasOf(i)[0]?.['status'] === 'ISSUANCE_FAILED');
    expect(proformasOf(failed)).toMatchObject([{ issuanceFailure: { message: 'the VAT number is not known' } }]);
  });

  it("if the MoR's event about a bank transfer is lost, a review item stays open until an event names the amount", async () => {
    const { id, proformaId } = await withProforma();
    await world.advance(60);
    await loseNext(world, 'proforma_invoice.settled');
    await world.control('POST', `/proformas/${proformaId}/settle`, {});
    const open = (json: Json): Json[] => (json['reviews'] as Json[]).filter((r) => r['status'] === 'open');
    const asked = await inTime(id, 'a person is asked', (i) => open(i).length > 0);
    expect(open(asked)).toMatchObject([{ kind: 'conflicting_event', fact: { code: 'transfer-unheard' } }]);
    const money = { amount: '29.90', currency: 'EUR' };
    await sendEvent(world, {
      id: `evt_${proformaId}`,
      type: 'proforma_invoice.settled',
      created: '2026-11-20T10:00:00Z',
      data: {
        proformaInvoiceId: proformaId,
        status: 'SETTLED',
        settledAt: '2026-11-20T10:00:00Z',
        total: money,
        amountReceived: money,
      },
    });
    const paid = await world.invoice(id, 'paid');
    expect(open(paid)).toEqual([]);
    const explained = await cli(['explain', id], world.env);
    for (const line of [
      'Proforma invoice PF-GB-',
      'SETTLED, 29.90 EUR, payment due 2100-01-01',
      'Proforma invoice settled',
      'Requested a proforma invoice',
    ])
      expect(explained.out).toContain(line);
  });

  it("if a dispute's only event is its loss, and the MoR delivers the event repeatedly, Crossbill books the loss once", async () => {
    const { id } = await renewal('succeed');
    const paid = await world.invoice(id, 'paid');
    const paymentId = String((paid['payments'] as Json[])[0]?.['id']);
    const disputeId = `dp_${id}`;
    const tell = (type: string, data: Json, eventId: string): Promise<void> =>
      sendEvent(world, { id: eventId, type, created: '2026-11-20T10:00:00Z', data: { disputeId, paymentId, ...data } });
    const lost = { outcome: 'lost' };
    await Promise.all([
      tell('dispute.outcome', lost, `evt_o_${id}`),
      tell('dispute.outcome', lost, `evt_o_${id}`),
      tell('dispute.outcome', lost, `evt_p_${id}`),
    ]);
    await tell('dispute.revision_requested', { deadline: '2027-01-01T00:00:00Z' }, `evt_r_${id}`);
    await world.until('all is decided', () => eventNamed(world, `evt_r_${id}`), { status: 'done' });
    const { body } = await world.api('GET', `/v1/ledger?invoice_id=${id}&reason=dispute_lost`);
    expect(body['data']).toMatchObject([{ amount: 2990 }]);
    const explained = await cli(['explain', disputeId], world.env);
    expect(explained.out).toContain(`Dispute ${disputeId}: lost`);
    expect(explained.out).toContain('was lost: the bank took 29.90 EUR back');
  });
});

it('the API lists review items newest first, or on request by the soonest deadline', async () => {
  const { id } = await renewal('succeed');
  const paid = await world.invoice(id, 'paid');
  const paymentId = String((paid['payments'] as Json[])[0]?.['id']);
  const due = ['2028-03-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z', '2028-02-01T00:00:00.000Z', null];
  for (const [n, deadline] of due.entries()) {
    await sendEvent(world, {
      id: `evt_due_${n}_${id}`,
      type: 'dispute.action_needed',
      created: '2026-11-20T10:00:00Z',
      data: { disputeId: `dp_due_${n}`, paymentId, ...(deadline === null ? {} : { deadline }) },
    });
    await world.shows(`/v1/reviews?invoice_id=${id}`, (r) => (r['data'] as Json[]).length === n + 1);
  }
  const pages = async (order: string): Promise<unknown[]> => {
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const path = `/v1/reviews?status=open&kind=dispute&invoice_id=${id}&limit=1&order=${order}${cursor}`;
      const { body } = await world.api('GET', path);
      seen.push(...(body['data'] as Json[]).map((r) => r['due_at']));
      cursor = typeof body['next_cursor'] === 'string' ? `&cursor=${body['next_cursor']}` : '';
    } while (cursor !== '');
    return seen;
  };
  expect(await pages('due')).toEqual([due[1], due[2], due[0], null]);
  expect(await pages('newest')).toEqual(due.toReversed());
  const listed = await cli(['reviews', 'list', '--kind', 'dispute'], world.env);
  expect(listed.out.indexOf('dp_due_1')).toBeLessThan(listed.out.indexOf('dp_due_0'));
  const wrong = await cli(['reviews', 'list', '--order', 'kind'], world.env);
  expect(wrong.code).toBe(2);
});

it('when two operators dismiss one review item at the same time, both get 200 and the same note', async () => {
  const event = { id: 'evt_loose', type: 'dispute.action_needed', created: '2026-11-20T10:00:00Z' };
  await sendEvent(world, { ...event, data: { disputeId: 'dp_nobody', deadline: '2028-05-01T00:00:00Z' } });
  const body = await world.shows('/v1/reviews?status=open&kind=dispute&order=due', (r) =>
    JSON.stringify(r).includes('evt_loose'),
  );
  const item = (body['data'] as Json[]).find((r) => JSON.stringify(r).includes('evt_loose'));
  expect(item).toMatchObject({ due_at: '2028-05-01T00:00:00.000Z' });
  const settle = (note: string) => resolve(world, item, 'dismiss', note);
  const [one, two] = await Promise.all([settle('one'), settle('two')]);
  expect([one.status, two.status]).toEqual([200, 200]); // the same choice leaves nothing for the second
  expect(one.body['note']).toBe(two.body['note']);
});
