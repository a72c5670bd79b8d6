// An accountant's export: every charge and refund known to the MoR stands in the CSV by its own id, once, in its month.
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decimalFromMinor } from '../../src/shared/domain/money.js';
import { cli } from '../cli/rig.js';
import { csvObjects } from '../support/csv.js';
import { Visitor } from '../console/visitor.js';
import { type Json, READ_KEY, startWorld, type World, refusal } from '../support/rigs/world.js';
import { refund, paidRenewal } from './support/story.js';

type Row = Record<string, string>;

/** The MoR's payments and refunds, by its own books. */
async function accountOfTheMor(world: World): Promise<Row[]> {
  const read = async (path: string): Promise<Json[]> => (await world.control('GET', path)).body['data'] as Json[];
  const line = (type: 'payment' | 'refund', json: Json): Row => {
    const [currency, amount] = [String(json['currency']).toUpperCase(), BigInt(Number(json['amount']))];
    return {
      type,
      date: String(json['created_at']),
      currency,
      amount: decimalFromMinor(type === 'refund' ? -amount : amount, currency),
      charge_id: type === 'payment' ? String(json['processor_charge_id']) : '',
      refund_id: type === 'refund' ? String(json['id']) : '',
    };
  };
  const taken = (await read('/mor/payments')).filter((p) => p['status'] !== 'failed');
  const given = (await read('/mor/refunds')).filter((r) => r['status'] === 'succeeded');
  return [...taken.map((p) => line('payment', p)), ...given.map((r) => line('refund', r))];
}

describe('after two months of signups, renewals, refunds and a lost dispute in three currencies', () => {
  let world: World;
  let folder: string;
  /** The MoR's own account of payments and refunds. */
  let mor: Row[];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'crossbill-accounts-'));
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
    const people = [
      await world.paidSubscriber(),
      await world.paidSubscriber({ email: '=cmd|calc@example.com', amount: 4_800, currency: 'jpy' }),
      await world.paidSubscriber({ amount: 1_234, currency: 'kwd' }),
    ];
    const paid: string[] = [];
    for (const s of people) paid.push((await paidRenewal(world, s)).paymentId);
    await world.advance(32 * 86_400);
    for (const s of people) paid.push((await paidRenewal(world, s)).paymentId);
    await world.control('POST', '/cards', { customer_id: people[0]?.customerId, outcome: 'decline' });
    await world.invoice(await world.renew(people[0]?.subscriptionId ?? ''), 'open');
    const [full = '', part = '', twice = '', lost = ''] = paid;
    for (const [id, body] of [
      [full, {}],
      [part, { amount: 800, reason: '+49 30 1234' }],
      [twice, { amount: 100 }],
      [twice, { amount: 34 }],
    ] as const)
      expect(await refund(world, id, body)).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    const dispute = { dispute_id: 'dp_1', payment_id: lost, amount: 2_990, currency: 'eur', outcome: 'lost' };
    await world.control('POST', '/events', { type: 'dispute.outcome', data: dispute });
    mor = await accountOfTheMor(world);
    await world.until(
      'all is booked and shown on Stripe',
      () => world.api<{ data: Json[] }>('GET', '/v1/ledger?limit=100'),
      ({ body }) => {
        const booked = (reason: string): number => body.data.filter((e) => e['reason'] === reason).length;
        const marked = booked('payment_marked') === of('payment').length;
        return marked && booked('refund_mirrored') === 4 && booked('dispute_lost') === 1;
      },
    );
  }, 120_000);
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const exported = async (what: string, ...options: string[]): Promise<Row[]> => {
    const ran = await cli(['export', what, ...options], world.env);
    expect([ran.code, ran.err]).toEqual([0, expect.stringMatching(/^(written \d+ rows, \d+ %\n)*$/)]);
    return csvObjects(ran.out);
  };
  const of = (type: string): Row[] => mor.filter((line) => line['type'] === type);

  it('`crossbill export` lists each charge of the MoR once as a payment and twice in the ledger', async () => {
    const [payments, ledger] = [await exported('payments'), await exported('ledger')];
    expect(of('payment').length).toBeGreaterThanOrEqual(9);
    expect(payments).toHaveLength(of('payment').length);
    for (const charge of of('payment')) {
      const mine = (rows: Row[]): Row[] => rows.filter((r) => r['processor_charge_id'] === charge['charge_id']);
      expect(mine(payments)).toEqual([
        expect.objectContaining({
          amount: charge['amount'],
          currency: charge['currency'],
          customer_id: expect.stringMatching(/^cus_/),
          mor_customer_id: expect.stringMatching(/./),
          invoice_id: expect.stringMatching(/^in_/),
          invoice_number: expect.stringMatching(/./),
          payment_record_id: expect.stringMatching(/^pr_/),
        }),
      ]);
      // No event names the charge of a signup: the MoR proves it a moment later.
      const [payment] = mine(payments);
      if (payment?.['origin'] === 'renewal')
        expect(payment['succeeded_at']?.slice(0, 19)).toBe(charge['date']?.slice(0, 19));
      const reasons = mine(ledger).map((r) => r['reason']);
      expect(reasons.filter((r) => r?.startsWith('payment_')).sort()).toEqual(['payment_collected', 'payment_marked']);
    }
  });

  it("`crossbill export` lists each refund of the MoR once, with the MoR's rfnd_ id and Stripe's credit note", async () => {
    const [refunds, ledger] = [await exported('refunds'), await exported('ledger')];
    expect([of('refund').length, refunds.length]).toEqual([4, 4]);
    for (const given of of('refund')) {
      const mine = (rows: Row[]): Row[] => rows.filter((r) => r['mor_refund_id'] === given['refund_id']);
      const [row] = mine(refunds);
      expect(mine(refunds)).toHaveLength(1);
      expect([`-${row?.['amount'] ?? ''}`, row?.['currency']]).toEqual([given['amount'], given['currency']]);
      const note = await world.stripe.creditNotes.retrieve(row?.['credit_note_id'] ?? '');
      expect(note.invoice).toBe(row?.['invoice_id']);
      expect(mine(ledger).map((r) => r['reason'])).toEqual(['refund_paid', 'refund_mirrored']);
    }
  });

  it("`crossbill export` puts each ledger row into the month of the MoR's booking, and no row is missing from the months", async () => {
    const all = await exported('ledger');
    const months = [...new Set(all.map((r) => r['moved_at']?.slice(0, 7) ?? ''))].sort();
    expect(months.length).toBeGreaterThan(1);
    for (const what of ['ledger', 'payments', 'refunds']) {
      const whole = await exported(what);
      const parts = [];
      for (const month of [...months, '2099-01']) parts.push(...(await exported(what, '--month', month)));
      const key = (row: Row): string => JSON.stringify(row);
      expect(parts.map(key).sort()).toEqual(whole.map(key).sort());
    }
    expect(await exported('payments', '--month', '2020-01')).toEqual([]);
  });

  it("the trial balance of each month is even, leaves the clearing accounts at zero, and matches the MoR's sums", async () => {
    type Line = { account: string; clearing: boolean; opening: number; debit: number; credit: number; closing: number };
    type Balance = { currency: string; accounts: Line[]; total: Line };
    const balanceOf = async (month: string): Promise<Balance[]> => {
      const { status, body } = await world.api('GET', `/v1/ledger/trial-balance?month=${month}`);
      expect([status, body['month']]).toEqual([200, month]);
      return body['currencies'] as Balance[];
    };
    const months = [...new Set((await exported('ledger')).map((r) => r['moved_at']?.slice(0, 7) ?? ''))].sort();
    const last = months.at(-1) ?? '';
    for (const month of months) {
      const balances = await balanceOf(month);
      expect(balances.map((b) => b.currency)).toEqual(['eur', 'jpy', 'kwd']);
      for (const { total, accounts } of balances) {
        expect([total.opening, total.closing, total.debit - total.credit]).toEqual([0, 0, 0]);
        const clearing = accounts.filter((l) => l.clearing);
        expect(clearing.map((l) => [l.account, l.closing])).toEqual([
          ['unmarked_payments', 0],
          ['unmirrored_refunds', 0],
        ]);
      }
    }
    const decimals: Record<string, number> = { EUR: 2, JPY: 0, KWD: 3 };
    const minor = (line: Row): number =>
      Math.round(Number(line['amount']) * 10 ** (decimals[line['currency'] ?? ''] ?? 2));
    for (const { currency, accounts } of await balanceOf(last)) {
      const own = (type: string): number =>
        of(type).reduce((sum, line) => sum + (line['currency']?.toLowerCase() === currency ? minor(line) : 0), 0);
      const lost = currency === 'eur' ? 2_990 : 0;
      const closing = Object.fromEntries(accounts.map((l) => [l.account, l.closing]));
      expect([currency, closing]).toEqual([
        currency,
        {
          mor_receivable: own('payment') + own('refund') - lost,
          disputed_payments: lost,
          unmarked_payments: 0,
          unmirrored_refunds: 0,
          settled_invoices: -(own('payment') + own('refund')),
        },
      ]);
    }
    const text = await cli(['trial-balance', '--month', last], world.env);
    expect(text).toMatchObject({ code: 0, err: '', out: expect.stringContaining(`Trial balance of ${last}`) });
    expect(text.out).not.toContain('shows it'); // nothing is open
  });

  it('entries made in Xero, QuickBooks or NetSuite from an export, as docs/accounting.md says, add up to the trial balance', async () => {
    const page = readFileSync('docs/accounting.md', 'utf8');
    /** The table below a heading: each field with the export's column of each way, empty where there is none. */
    const mapping = (program: string): [field: string, first: string, second: string][] =>
      (page.split(`### ${program}\n`)[1] ?? '')
        .split('### ')[0]
        ?.split('\n')
        .filter((line) => /^\| (?!field|---)/.test(line))
        .map((line) => {
          const [, field = '', first = '', second = ''] = line.split('|').map((c) => c.trim());
          const column = (character: string): string => [...character.matchAll(/`([a-z_]+)`/g)].at(-1)?.[1] ?? '';
          return [field, column(first), column(second)];
        }) ?? [];
    const [payments, refunds, ledger] = [
      await exported('payments'),
      await exported('refunds'),
      await exported('ledger'),
    ];
    const value = (row: Row, column: string): string => {
      if (column !== '') expect([column, Object.keys(row)]).toEqual([column, expect.arrayContaining([column])]);
      return row[column] ?? '';
    };
    const cents = (text: string): number => Math.round(Number(text) * 1_000); // no currency has more decimals
    const balances = (await world.api('GET', '/v1/ledger/trial-balance?month=2099-12')).body['currencies'] as {
      currency: string;
      accounts: { account: string; closing: number }[];
    }[];
    const balanceOf = (currency: string, account: string): number => {
      const minor = balances.find((b) => b.currency === currency)?.accounts.find((a) => a.account === account)?.closing;
      return (minor ?? NaN) * ({ eur: 10, jpy: 1_000, kwd: 1 }[currency] ?? NaN);
    };

    const xero = mapping('Xero');
    expect(xero.map(([field]) => field)).toEqual(['Date', 'Amount', 'Payee', 'Description', 'Reference']);
    const line = (row: Row, way: 1 | 2): Row => Object.fromEntries(xero.map((m) => [m[0], value(row, m[way])]));
    for (const currency of ['eur', 'jpy', 'kwd']) {
      const own = (rows: Row[]): Row[] => rows.filter((r) => r['currency']?.toLowerCase() === currency);
      const statement = [
        ...own(payments).map((r) => line(r, 1)),
        ...own(refunds).map((r) => ({ ...line(r, 2), Amount: `-${r['amount'] ?? ''}` })),
        ...own(ledger.filter((r) => r['reason'] === 'dispute_lost')).map((r) => ({ Amount: `-${r['amount'] ?? ''}` })),
      ];
      const sum = statement.reduce((n, l) => n + cents(l['Amount'] ?? ''), 0);
      expect([currency, sum]).toEqual([currency, balanceOf(currency, 'mor_receivable')]);
    }

    for (const [program, account, debit, credit] of [
      ['QuickBooks Online', 'Account Name', 'Debits', 'Credits'],
      ['NetSuite', 'Account', 'Debit', 'Credit'],
    ] as const) {
      const fields = mapping(program);
      const journals = ledger.flatMap((row) =>
        ([1, 2] as const).map((way): Row => ({
          ...Object.fromEntries(fields.map((m) => [m[0], value(row, m[way])])),
          currency: row['currency']?.toLowerCase() ?? '',
        })),
      );
      const sums = new Map<string, number>();
      for (const j of journals) {
        const key = `${j['currency'] ?? ''} ${j[account] ?? ''}`;
        sums.set(key, (sums.get(key) ?? 0) + cents(j[debit] ?? '') - cents(j[credit] ?? ''));
      }
      expect(sums.size).toBeGreaterThan(9);
      for (const [key, sum] of sums) {
        const [currency = '', name = ''] = key.split(' ');
        expect([program, key, sum]).toEqual([program, key, balanceOf(currency, name)]);
      }
    }
  });

  it("the console shows a month's trial balance; console, API and command line refuse an invalid or missing month", async () => {
    const visitor = await new Visitor(world.daemons[0]?.url ?? '').login(READ_KEY);
    const month = (await exported('payments'))[0]?.['succeeded_at']?.slice(0, 7) ?? '';
    const { status, text } = await visitor.get(`/console/ledger/trial-balance?month=${month}`);
    expect([status, text]).toEqual([200, expect.stringContaining(`value="${month}"`)]);
    for (const word of ['MoR receivable', 'settled invoices', 'Total', 'JPY', 'KWD']) expect(text).toContain(word);
    expect((await visitor.get('/console/ledger/trial-balance')).status).toBe(200);
    expect((await visitor.get('/console/ledger/trial-balance?month=2026-13')).status).toBe(400);
    for (const query of ['', '?month=2026-13', '?month=November', '?month=2026-11&currency=eur'])
      expect(await world.api('GET', `/v1/ledger/trial-balance${query}`)).toMatchObject(
        refusal(400, 'invalid_request', query.includes('currency') ? 'currency' : 'month'),
      );
    expect((await cli(['trial-balance'], world.env)).code).toBe(2);
  });

  it('`crossbill export` shows each amount as a decimal of its currency', async () => {
    const seen = (await exported('payments')).map((r) => [r['currency'], r['amount']].join(' '));
    expect([...new Set(seen)].sort()).toEqual(['EUR 29.90', 'JPY 4800', 'KWD 1.234']);
  });

  it('`crossbill export` puts an apostrophe before customer text, so that no spreadsheet runs the text as a formula', async () => {
    const csv = (await cli(['export', 'refunds'], world.env)).out;
    expect(csv).toContain(",'+49 30 1234,");
    expect(csv).not.toMatch(/(^|,)[=+@]/m);
  });

  it('`crossbill export --json` prints the columns of the CSV, with each amount as a number of smallest units', async () => {
    const { out } = await cli(['export', 'payments', '--json'], world.env);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    const rows = await exported('payments');
    expect(lines.map((l) => Object.keys(l))).toEqual(rows.map((r) => Object.keys(r)));
    const decimal = (json: Json): string =>
      decimalFromMinor(BigInt(Number(json['amount'])), String(json['currency']).toUpperCase());
    expect(lines.map((l) => [l['id'], typeof l['amount'], decimal(l)])).toEqual(
      rows.map((r) => [r['id'], 'number', r['amount']]),
    );
  });

  it('`crossbill export --out` reports the rows of a complete file, and leaves no file when the export stops early', async () => {
    const file = join(folder, 'payments.csv');
    const ran = await cli(['export', 'payments', '--out', 'payments.csv'], world.env, { cwd: folder });
    expect(ran).toMatchObject({ code: 0, out: `Wrote ${of('payment').length} rows to ${file}.\n` });
    expect(readFileSync(file, 'utf8')).toBe((await cli(['export', 'payments'], world.env)).out);

    const gone = new AbortController();
    gone.abort();
    const stopped = await cli(['export', 'ledger', '--out', 'ledger.csv'], world.env, {
      cwd: folder,
      signal: gone.signal,
    });
    expect(stopped).toMatchObject({ code: 1, err: 'Stopped: the export is not complete. Run it again.\n' });
    expect(readdirSync(folder)).toEqual(['payments.csv']);
    const nowhere = await cli(['export', 'ledger', '--out', 'no/where.csv'], world.env, { cwd: folder });
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining('where.csv (ENOENT)') });
  });

  it('`crossbill export --out` writes through a symbolic link to a file, and refuses a folder', async () => {
    const own = mkdtempSync(join(tmpdir(), 'crossbill-out-'));
    const whole = (await cli(['export', 'payments'], world.env)).out;
    const out = (name: string) => cli(['export', 'payments', '--out', name], world.env, { cwd: own });
    writeFileSync(join(own, 'real.csv'), 'old');
    symlinkSync('real.csv', join(own, 'link.csv'));
    expect((await out('link.csv')).code).toBe(0);
    expect(lstatSync(join(own, 'link.csv')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(own, 'real.csv'), 'utf8')).toBe(whole);
    mkdirSync(join(own, 'folder'));
    expect(await out('folder')).toMatchObject({ code: 1, err: expect.stringContaining('is no plain file') });
    expect(readdirSync(own).toSorted()).toEqual(['folder', 'link.csv', 'real.csv']);
    rmSync(own, { recursive: true, force: true });
  });

  it('`crossbill export` refuses an invalid month, and `--month` together with `--since`', async () => {
    const wrong = await cli(['export', 'ledger', '--month', '2026-13'], world.env);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('Use a month such as 2026-11.')]);
    const both = await cli(['export', 'ledger', '--month', '2026-11', '--since', '30d'], world.env);
    expect(both).toMatchObject({ code: 2, err: 'Use --month or --since, not both.\n' });
  });
});
