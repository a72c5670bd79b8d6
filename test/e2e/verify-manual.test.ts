// A person's acts on Stripe's dashboard: verify names them, in both ways of marking.
import { describe, expect, it } from '@jest/globals';
import { cli } from '../cli/rig.js';
import { READ_KEY, useWorld } from '../support/rigs/world.js';
import { untilSide } from './support/story.js';
import { paidRenewal } from './support/story.js';
import { refund } from './support/story.js';

type Line = { id: string; kind: string; invoice_id?: string; object_id?: string; detail: string };
type Report = { outcome: string; differences: Line[]; compared: Record<string, number> };

describe.each(['payment_record', 'out_of_band'] as const)('manual changes on Stripe, marked by %s', (mode) => {
  const world = useWorld({ BILLING_MARK_MODE: mode });

  async function verify(): Promise<{ code: number; report: Report }> {
    const { code, out, err } = await cli(['verify', '--json'], world.env);
    if (!out.includes('"outcome"')) throw new Error(`${code}: ${out}${err}`);
    return { code, report: JSON.parse(out) as Report };
  }
  const named = async (wanted: (line: Line) => boolean): Promise<Line[]> => {
    const { code, report } = await verify();
    const lines = report.differences.filter(wanted);
    expect({ code, some: lines.length > 0 }).toEqual({ code: 3, some: true });
    return lines;
  };

  const paid = () => paidRenewal(world);
  async function partlyRefunded(): Promise<{ invoiceId: string }> {
    const { paymentId, invoiceId } = await paid();
    expect((await refund(world, paymentId, { amount: 700 })).status).toBe(201);
    await untilSide(world, invoiceId, (side) => side.notes.length > 0);
    return { invoiceId };
  }

  it('`crossbill verify` finds no difference if nobody changed Stripe by hand', async () => {
    await partlyRefunded();
    const { code, report } = await verify();
    expect({ code, differences: report.differences }).toEqual({ code: 0, differences: [] });
  });

  it('`crossbill verify` reports a manual credit note with its amount', async () => {
    const { invoiceId } = await paid();
    const note = await world.stripe.creditNotes.create({ invoice: invoiceId, amount: 300, out_of_band_amount: 300 });
    const [line, ...more] = await named((d) => d.invoice_id === invoiceId);
    expect(more).toEqual([]);
    expect(line).toMatchObject({ kind: 'refunded_by_hand', object_id: note.id });
    expect(line?.detail).toContain('3.00 EUR');
  });

  it("`crossbill verify` reports a credit note made by hand, and not Crossbill's credit note for the same invoice", async () => {
    const { invoiceId } = await partlyRefunded();
    const note = await world.stripe.creditNotes.create({ invoice: invoiceId, amount: 200, out_of_band_amount: 200 });
    expect(await named((d) => d.invoice_id === invoiceId)).toMatchObject([
      { kind: 'refunded_by_hand', object_id: note.id },
    ]);
  });

  it("`crossbill verify` reports a manual credit note credited to the customer's balance as one difference, not as two", async () => {
    const { invoiceId, customerId } = await paid();
    const note = await world.stripe.creditNotes.create({ invoice: invoiceId, amount: 400, credit_amount: 400 });
    const lines = await named((d) => d.invoice_id === invoiceId || d.detail.includes(customerId));
    expect(lines).toMatchObject([{ kind: 'credited_by_hand', object_id: note.id }]);
  });

  it('`crossbill verify` reports a manual credit to the customer balance until somebody reverses it', async () => {
    const { customerId } = await paid();
    const { customers } = world.stripe;
    const entry = await customers.createBalanceTransaction(customerId, { amount: -500, currency: 'eur' });
    const lines = await named((d) => d.detail.includes(customerId));
    expect(lines).toMatchObject([{ kind: 'credited_by_hand', object_id: entry.id }]);
    expect(lines[0]?.detail).toContain('5.00 EUR');
    await customers.createBalanceTransaction(customerId, { amount: 500, currency: 'eur' });
    expect((await verify()).report.differences.filter((d) => d.detail.includes(customerId))).toEqual([]);
  });

  if (mode === 'payment_record') {
    it("`crossbill verify` reports a manual refund on Crossbill's payment record", async () => {
      const { invoiceId, payment } = await paid();
      const recordId = String(payment['payment_record_id']);
      await world.stripe.paymentRecords.reportRefund(recordId, {
        outcome: 'refunded',
        amount: { value: 250, currency: 'eur' },
        processor_details: { type: 'custom', custom: { refund_reference: `by-hand-${recordId}` } },
        refunded: { refunded_at: 1_793_491_200 },
      });
      const lines = await named((d) => d.invoice_id === invoiceId);
      expect(lines).toMatchObject([{ kind: 'refunded_by_hand', object_id: recordId }]);
      expect(lines[0]?.detail).toContain('2.50 EUR');
    });

    it('`crossbill verify` reports a payment record detached from its invoice, even after a manual mark as paid', async () => {
      const { invoiceId, payment } = await paid();
      const recordId = String(payment['payment_record_id']);
      await world.stripe.rawRequest('POST', `/v1/invoices/${invoiceId}/detach_payment`, { payment_record: recordId });
      const detached = { kind: 'charged_not_marked', object_id: recordId };
      expect(await named((d) => d.invoice_id === invoiceId)).toMatchObject([detached]);
      await world.stripe.invoices.pay(invoiceId, { paid_out_of_band: true });
      expect(await named((d) => d.invoice_id === invoiceId)).toMatchObject([detached]);
    });

    it('`crossbill verify` reports an overpaid invoice', async () => {
      const { invoiceId } = await paid();
      const attached = [...world.sandbox.stripe.state.invoicePayments.values()].find(
        (p) => p.invoice === invoiceId && p.status === 'paid',
      );
      Object.assign(attached ?? {}, { amountPaid: 3090 });
      const lines = await named((d) => d.invoice_id === invoiceId);
      Object.assign(attached ?? {}, { amountPaid: 2990 });
      expect(lines.map((d) => d.kind)).toContain('overpaid');
    });
  }
});

describe('a difference acknowledged by a person', () => {
  const world = useWorld();

  const run = async (...args: string[]) => cli(['verify', ...args], world.env);
  const listed = async (): Promise<Record<string, unknown>[]> =>
    await world.list<Record<string, unknown>>('/v1/verify/differences?limit=100');

  it('`crossbill verify` counts an acknowledged difference separately, and reports the difference again when its facts change', async () => {
    const s = await world.paidSubscriber();
    const credit = { invoice: s.firstInvoiceId, amount: 300, out_of_band_amount: 300 };
    const note = await world.stripe.creditNotes.create(credit);
    const other = await world.stripe.creditNotes.create({ ...credit, amount: 200, out_of_band_amount: 200 });
    const first = await run();
    expect({ code: first.code, out: first.out }).toEqual({ code: 3, out: expect.stringContaining('dif_') });
    const lines = await listed();
    expect(lines.map((d) => d['object_id']).sort()).toEqual([note.id, other.id].sort());
    const idOf = (object: string): string => String(lines.find((d) => d['object_id'] === object)?.['id']);

    const path = `/v1/verify/differences/${idOf(note.id)}/acknowledge`;
    const asReader = await world.api('POST', path, { note: 'goodwill' }, { authorization: `Bearer ${READ_KEY}` });
    expect(asReader.status).toBe(403);
    expect((await world.api('POST', path, {})).body).toMatchObject({ code: 'invalid_request' });
    const done = await world.api('POST', path, { note: 'goodwill for card 4242424242424242' });
    expect(done).toMatchObject({
      status: 200,
      body: { id: idOf(note.id), acknowledged: { note: 'goodwill for card [masked]', by: 'ops' } },
    });
    const unknown = await world.api('POST', '/v1/verify/differences/dif_none/acknowledge', { note: 'x' });
    expect(unknown.status).toBe(404);
    expect((await run()).code).toBe(3);

    const byCommand = await run('--acknowledge', idOf(other.id), '--note', 'the same');
    expect(byCommand).toMatchObject({ code: 0, out: expect.stringContaining('Acknowledged: refunded_by_hand') });
    const clean = await run();
    expect(clean.code).toBe(0);
    expect(clean.out).toContain('2 acknowledged');
    expect(clean.out).not.toContain('Differences\n');
    const json = JSON.parse((await run('--json')).out) as { outcome: string; acknowledged: { id: string }[] };
    expect(json.outcome).toBe('clean');
    expect(json.acknowledged.map((d) => d.id).sort()).toEqual([idOf(note.id), idOf(other.id)].sort());
    expect((await listed()).every((d) => d['acknowledged'] !== undefined)).toBe(true);

    const audit = await world.api<{ data: unknown[] }>('GET', '/v1/audit?action=verify.acknowledge');
    expect(audit.body.data).toContainEqual(
      expect.objectContaining({ outcome: 'done', actor: 'ops', target: idOf(note.id) }),
    );

    Object.assign(world.sandbox.stripe.state.creditNotes.get(note.id) ?? {}, { postPayment: 301 });
    const changed = await run('--json');
    expect(changed.code).toBe(3);
    const { differences } = JSON.parse(changed.out) as Report;
    expect(differences).toMatchObject([{ object_id: note.id, detail: expect.stringContaining('3.01 EUR') }]);
    expect(differences[0]?.id).not.toBe(idOf(note.id));
  });

  it('`crossbill verify` refuses an acknowledgement without a note or of an unknown difference', async () => {
    const ran = await run('--acknowledge', 'dif_1');
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 2, err: expect.stringContaining('--note') });
    const none = await run('--acknowledge', 'dif_1', '--note', 'why');
    expect({ code: none.code, err: none.err }).toEqual({ code: 1, err: expect.stringContaining('no such difference') });
  });
});

describe('a mark by Crossbill', () => {
  const world = useWorld();

  const run = (...args: string[]) => cli(['verify', ...args], world.env);
  async function lookedUp(): Promise<string[]> {
    const { body } = await world.control('GET', '/requests?side=mor&path=/api/payments/invoice');
    return (body['data'] as { query: { psp_reference: string } }[]).map((r) => r.query.psp_reference);
  }

  it('`crossbill verify` looks up the charge of each paid invoice at the MoR once, and reports a charge unknown to the MoR', async () => {
    const s = await paidRenewal(world);
    const chargeId = s.payment['processor_charge_id'];
    const before = await lookedUp(); // the proof of the signup
    const first = await run();
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining('ledger, Stripe and the MoR agree') });
    expect((await lookedUp()).slice(before.length).sort()).toEqual([s.chargeId, chargeId].sort());
    expect((await run('--json')).out).toContain('"marks_left":0');
    expect(await lookedUp()).toHaveLength(before.length + 2);

    const { invoiceId: second } = await paidRenewal(world, s);
    const gone = [...world.sandbox.mor.payments.values()].find((p) => p.merchantInvoiceId === second);
    expect(gone).toBeDefined();
    world.sandbox.mor.payments.delete(gone?.id ?? '');
    const { code, out } = await run('--json');
    expect(code).toBe(3);
    const { differences } = JSON.parse(out) as Report;
    expect(differences).toMatchObject([{ kind: 'marked_not_charged', invoice_id: second }]);
    expect(differences[0]?.detail).toContain(gone?.processorChargeId);
    expect((await run()).code).toBe(3);
    if (gone !== undefined) world.sandbox.mor.payments.set(gone.id, gone);
    expect((await run()).code).toBe(0);
  });
});
