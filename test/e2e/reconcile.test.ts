// The MoR's statement against the ledger, over a real daemon and the command line: what is printed, what is kept, what can go wrong.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../../src/cli/program.js';
import { cli, cliJson } from '../cli/rig.js';
import { Visitor } from '../console/visitor.js';
import { type Json, READ_KEY, startWorld, type World } from '../support/world.js';
import { refund } from './support/story.js';

type Found = {
  line: number | null;
  kind: string;
  payment: string | null;
  refund: string | null;
  detail: string;
} & Json;
type Report = Json & { id: string; findings: Found[]; counts: Record<string, number> };
type Paid = { paymentId: string; chargeId: string; invoiceId: string };

describe('a statement of the MoR', () => {
  let world: World;
  let folder: string;
  let paid: Paid[];
  let refundId: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'crossbill-statement-'));
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
    paid = [];
    for (const amount of [2990, 1250, 123456]) {
      const s = await world.subscriber({ amount, email: `ada${amount}@example.com` });
      await world.invoice(s.firstInvoiceId, 'paid');
      const invoiceId = await world.renew(s.subscriptionId);
      const invoice = await world.invoice(invoiceId, 'paid');
      const [p] = invoice['payments'] as Json[];
      paid.push({ invoiceId, paymentId: String(p?.['id']), chargeId: String(p?.['processor_charge_id']) });
    }
    const made = await refund(world, of(0).paymentId, { amount: 990 });
    refundId = String(made.body['mor_refund_id']);
    await world.until(
      'the refund is settled',
      async () => (await world.api('GET', `/v1/refunds/${refundId}`)).body['status'],
      (status) => status === 'succeeded',
    );
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const of = (n: number): Paid => {
    const p = paid[n];
    if (p === undefined) throw new Error(`no payment ${n}`);
    return p;
  };
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return name;
  };
  const run = (...argv: string[]) => cli(['reconcile', ...argv], world.env, { cwd: folder });
  const runJson = async (...argv: string[]) => {
    const ran = await run(...argv, '--json');
    return { ...ran, body: JSON.parse(ran.out) as Report };
  };
  const brief = (report: Report) => report.findings.map((f) => [f.line, f.kind]);
  const HEAD = 'type,charge,payment,refund,amount,currency';
  /** The signups' payments have no name at the MoR that a statement of renewals would show: they are only in the ledger. */
  const all = (): string[] => [
    HEAD,
    `payment,${of(0).chargeId},${of(0).paymentId},,29.90,EUR`,
    `payment,${of(1).chargeId},,,12.50,eur`,
    `payment,,${of(2).paymentId},,"1,234.56",EUR`,
    `refund,${of(0).chargeId},,${refundId},-9.90,EUR`,
    `fee,${of(0).chargeId},,,-0.35,EUR`,
  ];

  it('that agrees with the ledger ends with exit code 0, lists its fees with their lines, and sums up by currency', async () => {
    const ran = await run(file('agrees.csv', all().join('\n')));
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('The statement and the ledger agree.') });
    expect(ran.out).toContain('5 lines, 4 agree');
    expect(ran.out).toContain('Sums: payment 1276.96 EUR, refund -9.90 EUR, fee -0.35 EUR.');
    expect(ran.out).toMatch(/^6 +fee /m);
    expect(ran.out).toContain('No date is known');
  });

  it('that is the same file is known by its hash and says so, and is compared again with --again', async () => {
    const first = await runJson(file('known.csv', all().join('\r\n')));
    const again = await runJson('known.csv');
    expect(again.err).toContain('This file was reconciled at');
    expect(again.body).toEqual(first.body);
    const copy = await runJson(file('copy.csv', all().join('\r\n')));
    expect(copy.body.id).toBe(first.body.id);
    const anew = await runJson('known.csv', '--again');
    expect(anew.err).not.toContain('This file was reconciled at');
    expect(anew.body.id).not.toBe(first.body.id);
    expect({ ...anew.body, id: '', created_at: '', finished_at: '', findings: [] }).toEqual({
      ...{ ...first.body, id: '', created_at: '', finished_at: '', findings: [] },
    });
    expect((await cli(['statements', 'show', first.body.id], world.env)).code).toBe(1);
  });

  it('with a byte-order mark, semicolons, Windows line ends, decimal commas, quotes and columns of its own is read by its mapping', async () => {
    const own = [
      'Buchungsart;PSP-Referenz;Erstattung;Betrag;W\u00e4hrung;Text',
      `Zahlung;${of(0).chargeId};;29,90;EUR;"a; b\r\nc ""quoted"""`,
      '',
      `Zahlung;${of(2).chargeId};;1.234,56;EUR;`,
      `Erstattung;;${refundId};9,90-;EUR;`,
      `Auszahlung;;;1.000,00;EUR;`,
      `Zahlung;ch_unknown;;5,00;EUR;`,
    ];
    file(
      'mapping.json',
      JSON.stringify({
        columns: { type: 'Buchungsart', charge: 'PSP-Referenz' },
        types: { payment: ['zahlung'] },
        amounts: 'comma',
      }),
    );
    const flags = ['--column', 'refund=Erstattung', '--column', 'amount=Betrag', '--column', 'currency=W\u00e4hrung'];
    const types = ['--type', 'refund=Erstattung', '--type', 'ignore=Auszahlung'];
    const name = file('own.csv', `\ufeff${own.join('\r\n')}\r\n`);
    const ran = await runJson(name, '--mapping', 'mapping.json', ...flags, ...types);
    expect(ran.code).toBe(3);
    expect(ran.body).toMatchObject({ lines: 5, agree: 3, counts: { ignored: 1 } });
    // The second record has a line break in a cell, and a blank line follows: numbers are those that an editor shows.
    expect(brief(ran.body)).toEqual([[8, 'only_statement']]);
  });

  it('in smallest units and without a currency column is read too', async () => {
    const name = file('minor.csv', `charge_id\tamount\n${of(2).chargeId}\t123456\n`);
    expect((await run(name, '--amounts', 'minor', '--currency', 'eur')).code).toBe(0);
  });

  it('that differs names each difference by its line, and ends with exit code 3', async () => {
    const lines = [
      HEAD,
      `payment,${of(0).chargeId},,,29.90,EUR`,
      `payment,${of(1).chargeId},,,12.05,EUR`,
      `payment,${of(2).chargeId},,,1234.56,USD`,
      `payment,,${of(0).paymentId},,29.90,EUR`,
      `payment,${of(0).chargeId},${of(1).paymentId},,12.50,EUR`,
      'payment,ch_stranger,,,1.00,EUR',
      `payment,${of(2).chargeId},,,-1234.56,EUR`,
      `refund,,,${refundId},9.00,EUR`,
      `refund,,${of(1).paymentId},rfnd_stranger,1.00,EUR`,
      'payment,,,,1.00,EUR',
      'bonus,ch_1,,,1.00,EUR',
      'payment,ch_1,,,1.0.0,EUR',
      `returned,${of(1).chargeId},,,-12.50,EUR`,
      'fee,,,,-0.35,EUR',
      'fee,,,,-0.35,EUR',
    ];
    const ran = await runJson(file('differs.csv', lines.join('\n')));
    expect(ran.code).toBe(3);
    expect(brief(ran.body)).toEqual([
      [3, 'amount_differs'],
      [4, 'currency_differs'],
      [5, 'line_twice'],
      [6, 'line_twice'],
      [7, 'only_statement'],
      [8, 'negative_amount'],
      [9, 'amount_differs'],
      [10, 'only_statement'],
      [11, 'only_statement'],
      [12, 'unknown_type'],
      [13, 'unreadable'],
      [14, 'debit_returned'],
      [15, 'fee'],
      [16, 'line_twice'],
    ]);
    expect(ran.body.findings[0]).toMatchObject({
      ...{ invoice_id: of(1).invoiceId, payment: of(1).paymentId, amount: 1205, currency: 'eur', ledger_amount: 1250 },
      detail: 'the statement says 12.05 EUR, the ledger 12.50 EUR',
    });
    expect(ran.body.findings[2]?.detail).toBe('the same is on line 2 already');
    const text = await run('differs.csv');
    expect(text.code).toBe(3);
    expect(text.out).toContain('13 differences. Nothing was changed.');
    expect(text.out).toContain(`crossbill returned <payment> --reference "${ran.body.id} line <n>"`);
    const csv = await run('differs.csv', '--csv');
    const rows = csv.out.trimEnd().split('\r\n');
    expect(rows).toHaveLength(15);
    expect(rows[6]).toMatch(/^8,negative_amount,.*,-1234\.56,EUR,/);
  });

  it('that names a charge and a payment which are two payments here says so', async () => {
    const name = file('ids.csv', `${HEAD}\npayment,${of(0).chargeId},${of(1).paymentId},,12.50,EUR\n`);
    const { body } = await runJson(name);
    expect(body.findings).toMatchObject([
      { line: 2, kind: 'ids_differ', detail: expect.stringContaining(of(0).paymentId) },
    ]);
  });

  it('with dates shows what only the ledger has in those days, also given by --since and --until, and not what another statement has', async () => {
    const { body: seen } = await world.api<{ data: Json[] }>('GET', '/v1/payments?limit=100');
    const mine = seen.data.find((p) => p['id'] === of(1).paymentId);
    const day = String(mine?.['succeeded_at']).slice(0, 10);
    const lines = [
      `${HEAD},date`,
      `payment,${of(0).chargeId},,,29.90,EUR,${day}`,
      `refund,,,${refundId},9.90,EUR,${day}`,
    ];
    // Every renewal stands in a statement of above; the signups' payments stand in none.
    const ran = await runJson(file('dated.csv', lines.join('\n')));
    const missing = ran.body.findings.filter((f) => f.kind === 'only_ledger');
    expect(missing.length).toBe(3);
    expect(missing.every((f) => f.line === null && f.detail.includes('the statement has no line of it'))).toBe(true);
    expect(missing.map((f) => f.payment)).not.toContain(of(1).paymentId);
    expect(ran.body).toMatchObject({ since: `${day}T00:00:00.000Z`, counts: { only_ledger: 3, other_currencies: 0 } });
    const before = await runJson('dated.csv', '--again', '--since', '2020-01-01', '--until', '2020-01-31');
    expect(before).toMatchObject({
      code: 0,
      body: { since: '2020-01-01T00:00:00.000Z', until: '2020-02-01T00:00:00.000Z' },
    });
  });

  it('that cannot be used leaves nothing behind, and says what to do', async () => {
    const kept = async () =>
      (await cliJson<{ data: Json[] }>(['statements', 'list', '--limit', '100'], world.env)).body.data.length;
    const before = await kept();
    const good = `${HEAD}\npayment,ch_1,,,1.00,EUR\n`;
    const cases: [string, number, RegExp, ...string[]][] = [
      [file('empty.csv', ''), 1, /The file is empty/],
      [file('blank.csv', '\n\n\n'), 1, /The file is empty/],
      [file('utf16.csv', Buffer.from(`\ufeff${good}`, 'utf16le')), 1, /UTF-16/],
      [file('sheet.csv', Buffer.from('PK\u0003\u0004\u0000\u0000')), 1, /spreadsheet's own format/],
      ['nothing.csv', 1, /There is no file/],
      ['.', 1, /There is no file/],
      [
        file('open.csv', `${good}payment,"ch_2,,,1.00,EUR\n${'payment,ch_3,,,1.00,EUR\n'.repeat(9_000)}`),
        1,
        /Line 3 is no CSV: a quote is not closed/,
      ],
      [file('loose.csv', `${good}payment,ch"2",,,1.00,EUR\n`), 1, /Line 3 is no CSV/],
      [file('good.csv', good), 2, /There is no column "PSP" for charge/, '--column', 'charge=PSP'],
      ['good.csv', 2, /the field "total"/, '--column', 'total=amount'],
      ['good.csv', 2, /amounts must be one of/, '--amounts', 'euro'],
      ['good.csv', 2, /cannot be read as JSON/, '--mapping', 'good.csv'],
      ['good.csv', 2, /Use a day/, '--since', 'yesterday'],
      ['good.csv', 2, /--since is after --until/, '--since', '2026-11-02', '--until', '2026-11-01'],
      ['good.csv', 2, /not both/, '--csv', '--json'],
      ['good.csv', 2, /an equals sign/, '--type', 'payment'],
    ];
    for (const [name, code, why, ...flags] of cases) {
      const ran = await run(name, ...flags);
      expect([name, flags, ran.code, ran.err]).toEqual([name, flags, code, expect.stringMatching(why)]);
    }
    expect(await kept()).toBe(before);
  });

  it('is readable later: at the API and at the command line, by whoever may read', async () => {
    const listed = await world.api<{ data: Report[] }>('GET', '/v1/statements?limit=100', undefined, {
      authorization: `Bearer ${READ_KEY}`,
    });
    const differs = listed.body.data.find((s) => s['file_name'] === 'differs.csv');
    expect(differs).toMatchObject({ outcome: 'differences', differences: 13, by: 'cli:ada' });
    const path = `/v1/statements/${differs?.id}`;
    expect((await world.api('GET', path)).body).toEqual(differs);
    const page = await world.api<{ data: Found[]; next_cursor?: string }>('GET', `${path}/findings?limit=10`);
    expect(page.body.data).toHaveLength(10);
    const rest = await world.api<{ data: Found[] }>('GET', `${path}/findings?limit=10&cursor=${page.body.next_cursor}`);
    expect(rest.body.data.map((f) => f.line)).toEqual([13, 14, 15, 16]);
    const twice = await world.api<{ data: Found[] }>('GET', `${path}/findings?kind=line_twice`);
    expect(twice.body.data.map((f) => f.line)).toEqual([5, 6, 16]);
    expect((await world.api('GET', `${path}/findings?kind=nonsense`)).status).toBe(400);
    expect((await world.api('GET', '/v1/statements/stm_none')).status).toBe(404);
    const shown = await cli(['statements', 'show', differs?.id ?? ''], world.env);
    expect(shown).toMatchObject({ code: 3, out: expect.stringContaining('13 differences') });
    const visitor = new Visitor(world.daemons[0]?.url ?? '');
    await visitor.login(READ_KEY);
    expect((await visitor.get('/console/statements')).text).toContain('differs.csv');
    const seen = await visitor.get(`/console/statements/${differs?.id}?kind=amount_differs`);
    expect(seen.text).toContain('the statement says 12.05 EUR, the ledger 12.50 EUR');
    expect(seen.text).not.toContain('no charge, payment or refund');
    const audit = await world.api<{ data: Json[] }>('GET', '/v1/audit?action=statement.reconcile&limit=100');
    expect(audit.body.data).toEqual(
      expect.arrayContaining([expect.objectContaining({ actor: 'cli:ada', outcome: 'done', target: differs?.id })]),
    );
  });

  it('that is interrupted resumes where it was, and ends as one that was not', async () => {
    const unknown = Array.from({ length: 2_400 }, (_, n) => `payment,ch_none_${n},,,1.00,EUR`);
    const name = file('long.csv', [...all(), ...unknown, `payment,${of(0).chargeId},,,29.90,EUR`].join('\n'));
    const ending = new AbortController();
    let err = '';
    const code = await runCli(['reconcile', name], {
      ...{ env: world.env, cwd: folder, user: 'ada', isTerminal: false, colours: false, signal: ending.signal },
      ...{ out: () => Promise.resolve(), ask: () => Promise.resolve('') },
      err: (text) => {
        err += text;
        if (text.startsWith('compared')) ending.abort();
      },
    });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/Interrupted before line \d+\. The same command resumes there\./),
    ]);
    const { body: before } = await world.api<{ data: Report[] }>('GET', '/v1/statements');
    expect(before.data[0]).toMatchObject({ file_name: 'long.csv', outcome: 'reading', finished_at: null });
    expect((await cli(['statements', 'show', before.data[0]?.id ?? ''], world.env)).code).toBe(5);
    const resumed = await runJson(name);
    expect(resumed.err).toContain('It resumed where an earlier run was interrupted.');
    expect(resumed.body).toMatchObject({
      lines: 2_406,
      agree: 4,
      counts: { only_statement: 2_400, fee: 1, line_twice: 1 },
    });
    expect(resumed.body.findings).toHaveLength(1_000);
    const csv = (await run(name, '--csv')).out.trimEnd().split('\r\n');
    expect(csv).toHaveLength(2_403);
    expect(csv.at(-1)).toMatch(/^2407,line_twice,.*the same is on line 2 already$/);
    const whole = await runJson(name, '--again');
    expect({ counts: whole.body.counts, totals: whole.body['totals'] }).toEqual({
      counts: resumed.body.counts,
      totals: resumed.body['totals'],
    });
  });

  it('that two runs read at once is read by one of them; the other says so, and nothing is counted twice', async () => {
    const unknown = Array.from({ length: 1_600 }, (_, n) => `payment,ch_two_${n},,,1.00,EUR`);
    const name = file('two.csv', [HEAD, ...unknown].join('\n'));
    const both = await Promise.all([run(name), run(name)]);
    const codes = both.map((r) => r.code);
    expect(codes).toContain(3);
    for (const r of both)
      if (r.code !== 3) expect(r).toMatchObject({ code: 1, err: expect.stringContaining('another run') });
    const { body } = await runJson(name);
    expect(body).toMatchObject({ lines: 1_600, counts: { only_statement: 1_600 } });
  });

  it('proposes a returned debit; once a person booked it, the same statement agrees', async () => {
    const name = file(
      'returned.csv',
      `${HEAD}\npayment,${of(1).chargeId},,,12.50,EUR\nreturned,${of(1).chargeId},,,-12.50,EUR\n`,
    );
    const first = await runJson(name);
    expect(first).toMatchObject({
      code: 3,
      body: { findings: [{ line: 3, kind: 'debit_returned', payment: of(1).paymentId }] },
    });
    const booked = await cli(
      ['returned', of(1).paymentId, '--reference', `${first.body.id} line 3`, '--yes'],
      world.env,
    );
    expect(booked.code).toBe(0);
    const again = await runJson(name, '--again');
    expect(again).toMatchObject({ code: 0, body: { findings: [{ line: 3, kind: 'return_booked' }] } });
    const more = await runJson(file('returned-more.csv', `${HEAD}\nreturned,${of(1).chargeId},,,-13.50,EUR\n`));
    const both = { amount: -1350, ledger_amount: 1250 };
    expect(more.body.findings).toEqual(
      expect.arrayContaining([expect.objectContaining({ line: 2, kind: 'amount_differs', ...both })]),
    );
  });

  it('that the sandbox offers to rehearse with agrees but for a debit that its bank returned, and needs no mapping', async () => {
    const kept = await world.api<{ data: Json[] }>('GET', '/v1/payments?limit=100');
    const debit = of(2).paymentId;
    expect((await world.control('POST', `/mor/payments/${debit}/return`)).status).toBe(200);
    expect((await world.control('POST', '/mor/payments/pay_none/return')).status).toBe(400);
    const { body } = await world.control('GET', '/statement');
    const ran = await runJson(file('sandbox.csv', String(body['csv'])));
    expect(ran.code).toBe(3);
    const told = ran.body.findings.filter((f) => f.kind !== 'fee');
    expect(told).toMatchObject([{ kind: 'debit_returned', payment: debit }]);
    // Every payment, those of signups too, and the refund agree; each payment has its fee.
    expect(ran.body['agree']).toBe(kept.body.data.length + 1);
    expect(ran.body.counts['fee']).toBe(kept.body.data.length);
  });
});
