// Differences stand where people look: on the invoice's page, in `crossbill explain`, in the API, in the month's trial
// balance; and refused renewals that nobody tries again stand on the overview and in `crossbill status`.
import { describe, expect, it } from '@jest/globals';
import { cli, cliJson } from '../cli/rig.js';
import { Visitor } from '../console/visitor.js';
import { openInvoice } from '../support/rigs/channels.js';
import { type Json, OPS_KEY, useWorld, type World } from '../support/rigs/world.js';
import { paidRenewal } from './support/story.js';

const MONTH = new Date().toISOString().slice(0, 7);
const visitor = (world: World): Promise<Visitor> => new Visitor(world.daemons[0]?.url ?? '').login(OPS_KEY);
/** The page's main part as plain text. */
const mainOf = (page: string): string => (page.split('<main')[1] ?? '').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

describe('an unsettled difference', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  const verify = () => cli(['verify'], world.env);
  const invoice = async (id: string) => (await world.api<{ differences: Json[] }>('GET', `/v1/invoices/${id}`)).body;
  const verdict = async (): Promise<Json> => {
    const { body } = await world.api<{ verdict: Json }>('GET', `/v1/ledger/trial-balance?month=${MONTH}`);
    return body.verdict;
  };

  it('a difference on an invoice comes first on its page, in explain and in the API until a person acknowledges it', async () => {
    const { invoiceId, payment } = await paidRenewal(world);
    const path = `/console/invoices/${invoiceId}`;
    const ops = await visitor(world);
    expect(await verify()).toMatchObject({ code: 0 });
    expect(await invoice(invoiceId)).toMatchObject({ status: 'paid', differences: [] });
    expect(await verdict()).toMatchObject({ differences: 0 });
    expect((await cli(['explain', invoiceId], world.env)).out).toMatch(/^Invoice .*\(last (read|reported) \d{4}-/);
    expect((await ops.get(path)).text).not.toContain('class="message bad"');

    const record = String(payment['payment_record_id']);
    await world.stripe.rawRequest('POST', `/v1/invoices/${invoiceId}/detach_payment`, { payment_record: record });
    expect(await verify()).toMatchObject({ code: 3 });
    const seen = await invoice(invoiceId);
    expect(seen).toMatchObject({ differences: [{ kind: 'charged_not_marked', invoice_id: invoiceId }] });
    const [{ id, detail } = {}] = seen.differences;
    const page = (await ops.get(path)).text;
    const at = (part: string): number => page.indexOf(part);
    expect(at('class="message bad"')).toBeGreaterThan(0);
    expect(at('class="message bad"')).toBeLessThan(at('class="headline"'));
    expect(page).toContain(`/console/verify/${String(id)}`);
    expect(mainOf(page)).toContain(String(detail));
    expect(mainOf(page)).toMatch(/Stripe shows it \w+ *, last (read|reported) \d/);
    const explained = await cliJson<{ invoices: { differences: Json[] }[] }>(['explain', invoiceId], world.env);
    expect(explained.body.invoices[0]?.differences).toEqual(seen.differences);
    expect((await cli(['explain', invoiceId], world.env)).out.split('\n')[0]).toContain(String(detail));
    expect(await verdict()).toMatchObject({ state: 'differs', differences: 1, compared_at: expect.any(String) });
    expect((await cli(['trial-balance', '--month', MONTH], world.env)).out).toContain('1 unsettled difference');

    const acknowledged = `/v1/verify/differences/${String(id)}/acknowledge`;
    expect((await world.api('POST', acknowledged, { note: 'moved by hand' })).status).toBe(200);
    expect(await invoice(invoiceId)).toMatchObject({ differences: [] });
    expect((await ops.get(path)).text).not.toContain('class="message bad"');
    expect(await verdict()).toMatchObject({ differences: 0 });
  });

  it("the trial balance of a month has a verdict, and links to the month's ledger and its export", async () => {
    const ops = await visitor(world);
    const page = (await ops.get('/console/ledger/trial-balance?month=2026-02')).text;
    expect(page).toContain('class="message warn"');
    const ledger = '/console/ledger?month=2026-02';
    expect(page).toContain(`href="${ledger}"`);
    expect(page).toContain(`href="${ledger}&amp;format=csv"`);
    const now = (await ops.get(`/console/ledger/trial-balance?month=${MONTH}`)).text;
    const [, path = ''] = /href="([^"]*)" download>Export the ledger/.exec(now) ?? [];
    const csv = await ops.get(path.replaceAll('&amp;', '&'));
    expect(csv.headers.get('content-type')).toContain('text/csv');
    expect(csv.text).toContain('payment_collected');
  });
});

describe('a refused renewal with nothing planned', () => {
  const world = useWorld();
  type Status = { refused_without_plan: Json[]; more_refused_without_plan: boolean };

  it('the overview and status list it with customer, amount and reason until something is planned', async () => {
    const ops = await visitor(world);
    const overview = async (): Promise<string> => mainOf((await ops.get('/console')).text);
    await world.until('all is well', overview, (text) => text.includes('All well'));
    const invoiceId = await openInvoice(world);
    const listed = await world.until('it is listed', overview, (text) => text.includes('Refused renewal'));
    expect(listed).toMatch(/Refused renewal: Ada Example ?, *29\.90 EUR/);
    expect(listed).not.toContain('All well');
    const { body } = await cliJson<Status>(['status'], world.env);
    const { customer_id: customer } = (await world.api('GET', `/v1/invoices/${invoiceId}`)).body;
    expect(body).toMatchObject({
      refused_without_plan: [{ invoice_id: invoiceId, customer_id: customer, amount: 2990, currency: 'EUR' }],
      more_refused_without_plan: false,
    });
    const row = new RegExp(`${invoiceId} +29\\.90 EUR .* ${String(customer)}`);
    expect((await cli(['status'], world.env)).out).toMatch(row);
    const link = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
    expect((await world.api('POST', `/v1/invoices/${invoiceId}/payment-link`, link)).status).toBe(201);
    await world.until('it is listed no more', overview, (text) => text.includes('All well'));
    expect((await cliJson<Status>(['status'], world.env)).body.refused_without_plan).toEqual([]);
  });
});
