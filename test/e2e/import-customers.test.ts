// Links from elsewhere, by file and by API: all lines or none, each wrong line named, the same file twice without harm.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cli } from '../cli/rig.js';
import { type Json, READ_KEY, startWorld, type World, refusal, wrongField } from '../support/rigs/world.js';

type Report = Json & {
  accepted: boolean;
  linked: number;
  known: number;
  problems: { line: number; customer_id: string | null; problem: string }[];
};

describe('`crossbill import customers`', () => {
  let world: World;
  let folder: string;
  let ids: string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'crossbill-import-'));
    world = await startWorld({ ENROLMENT: 'linked' });
    await world.startDaemon();
    ids = [];
    for (let i = 0; i < 8; i++) ids.push((await world.stripe.customers.create({ name: `C ${i}` })).id);
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const of = (count: number): string => ids[count] ?? '';
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return name;
  };
  const run = (name: string, ...more: string[]) =>
    cli(['import', 'customers', name, ...more], world.env, { cwd: folder });
  const report = async (name: string): Promise<Report & { code: number }> => {
    const ran = await run(name, '--json');
    return { ...(JSON.parse(ran.out) as Report), code: ran.code };
  };
  const links = (query = ''): Promise<Json[]> => world.list(`/v1/customers?limit=100${query}`);

  it('`crossbill import customers` links every customer of a file, and checks unknown customers at Stripe', async () => {
    const name = file('ten.csv', `customer,mor_customer_id,reference\n${of(0)},mcus_0,batch 1\n${of(1)},mcus_1,\n`);
    const ran = await run(name);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('Read 2 lines: 2 customers linked, 0 linked before.');
    expect(ran.out).toContain('2 of them had no invoice and no signup here; Stripe knows each of them.');
    expect(ran.out).toContain('Crossbill cannot ask if the MoR knows these customers');
    expect(await links()).toMatchObject([
      { customer_id: of(1), mor_customer_id: 'mcus_1', reference: null, linked_by: 'cli:ada', signup_id: null },
      { customer_id: of(0), mor_customer_id: 'mcus_0', reference: 'batch 1' },
    ]);
  });

  it('the command `crossbill import customers` links nobody twice when it reads the same file again', async () => {
    const again = await report('ten.csv');
    expect(again).toMatchObject({ code: 0, accepted: true, linked: 0, known: 2, strangers: 0 });
    expect(await links()).toHaveLength(2);
  });

  it('`crossbill import customers` reads a byte-order mark, semicolons, Windows line ends, quotes, blank lines and extra columns', async () => {
    const text = `\ufeffNote;MOR_CUSTOMER_ID;"Customer"\r\n"a;b";mcus_2; ${of(2)} \r\n\r\n;mcus_3;${of(3)}\r\n`;
    expect(await report(file('own.csv', text))).toMatchObject({
      code: 0,
      lines: 2,
      linked: 2,
      unused_columns: ['Note'],
    });
    expect(await links(`&customer=${of(2)}`)).toMatchObject([{ mor_customer_id: 'mcus_2' }]);
    expect(await links('&mor_customer_id=mcus_3')).toMatchObject([{ customer_id: of(3) }]);
  });

  it('`crossbill import customers` refuses the whole file over one wrong line, and names each wrong line with its reason', async () => {
    const before = await links();
    const lines = [
      'customer,mor_customer_id,reference',
      `${of(4)},mcus_4,`, // 2, right
      `${of(5)},,`, // 3
      `,mcus_6,`, // 4
      `${of(4)},mcus_other,`, // 5
      `${of(6)},mcus_4,`, // 6
      `${of(0)},mcus_new,`, // 7
      `${of(7)},mcus_1,`, // 8
      `${of(5)},mcus_5,,x`, // 9
      `${of(5)},${'m'.repeat(256)},`, // 10
      `"${of(5)}\u0007",mcus_5,`, // 11
      `${of(4)},mcus_4,x`, // 12, the reference is another than none
      `${of(4)},mcus_4,y`, // 13, and two of them differ
    ];
    const seen = await report(file('wrong.csv', `${lines.join('\n')}\n`));
    expect(seen).toMatchObject({ code: 1, accepted: false, linked: 0 });
    expect(seen.problems.map((p) => [p.line, p.problem])).toEqual([
      [3, 'mor_customer_id is empty'],
      [4, 'customer is empty'],
      [5, `line 2 links this customer to mcus_4, this one to mcus_other`],
      [6, `line 2 links mcus_4 to another customer, ${of(4)}`],
      [7, 'this customer is linked to mcus_0 already'],
      [8, `mcus_1 is linked to another customer already, ${of(1)}`],
      [9, 'cell 4 has a value, and the first line names 3 columns'],
      [10, expect.stringMatching(/^mor_customer_id /)],
      [11, expect.stringMatching(/^customer /)],
      [13, 'line 12 gives this customer the reference x, this one y'],
    ]);
    expect(await links()).toEqual(before);
    const text = await run('wrong.csv');
    expect(text.out).toContain('Crossbill wrote nothing: 10 lines are wrong.');
  });

  it.each([
    ['a header with a comma at its end', 'customer,mor_customer_id,\nID,mc_a1\n'],
    ['rows without their empty last cell', 'customer,mor_customer_id,reference\nID,mc_a1\n'],
    ['rows with empty cells at the end', 'customer,mor_customer_id\nID,mc_a1,,\n'],
    ['a hidden first line with the separator', 'sep=;\r\ncustomer;mor_customer_id\r\nID;mc_a1\r\n'],
  ])('`crossbill import customers` accepts a file with %s', async (_, text) => {
    expect(await report(file('shape.csv', text.replace('ID', of(1)).replace('mc_a1', 'mcus_1')))).toMatchObject({
      ...{ code: 0, lines: 1, linked: 0, known: 1, unused_columns: [] },
    });
  });

  it('`crossbill import customers` refuses a file with ids mangled by a spreadsheet, and names each line', async () => {
    const cells = [
      '1.23457E+16',
      '"1,23457E+16"',
      '"=""mc_0001"""',
      "'mc_0002",
      'mc_0003\u200b',
      'mc_\u200b0004',
      'mc_00\u00ad05',
      '\u200fmc_0006',
      '#REF!',
      '#N/A',
      'NULL',
    ];
    const text = cells.map((cell, i) => `cus_d${i + 1},${cell}\n`).join('');
    const seen = await report(file('ids.csv', `customer,mor_customer_id\n${text}`));
    expect(seen).toMatchObject({ code: 1, accepted: false, linked: 0 });
    expect(seen.problems.map((p) => [p.line, p.customer_id])).toEqual(cells.map((_, i) => [i + 2, `cus_d${i + 1}`]));
    expect(await links('&customer=cus_d1')).toEqual([]);
  });

  it('`crossbill import customers` refuses a file with a customer unknown to both Crossbill and Stripe', async () => {
    const name = file('typo.csv', `customer,mor_customer_id\n${of(4)},mcus_4\ncus_typo,mcus_9\n`);
    expect(await report(name)).toMatchObject({
      code: 1,
      linked: 0,
      problems: [{ line: 3, customer_id: 'cus_typo', problem: 'Stripe knows no such customer, or has deleted it' }],
    });
    expect(await links(`&customer=${of(4)}`)).toEqual([]);
  });

  it('`crossbill import customers` refuses a file with a customer deleted at Stripe', async () => {
    const { id } = await world.stripe.customers.create({ email: 'gone@example.com' });
    await world.stripe.customers.del(id);
    const seen = await report(file('gone.csv', `customer,mor_customer_id\n${id},mcus_gone\n`));
    expect(seen).toMatchObject({ code: 1, linked: 0, problems: [{ line: 2, customer_id: id }] });
    expect(await links(`&customer=${id}`)).toEqual([]);
  });

  it('`crossbill import customers` links no customer while Stripe fails, and links all customers on the next run', async () => {
    const fault = { side: 'stripe', method: 'GET', path: `/v1/customers/${of(4)}`, action: 'status', status: 500 };
    await world.fault(fault);
    const name = file('later.csv', `customer,mor_customer_id\n${of(4)},mcus_4\n`);
    const ran = await run(name);
    expect(ran).toMatchObject({ code: 4, err: expect.stringContaining('Stripe 500') });
    expect(await links(`&customer=${of(4)}`)).toEqual([]);
    expect(await report(name)).toMatchObject({ code: 0, linked: 1 });
  });

  it('`crossbill import customers` explains why it cannot read a file', async () => {
    for (const [name, said] of [
      ['missing.csv', 'Check the path'],
      [file('empty.csv', ''), 'The file is empty'],
      [file('utf16.csv', Buffer.from('\ufeffcustomer', 'utf16le')), 'Save it again as CSV in UTF-8.'],
      [
        file('windows.csv', Buffer.from(`customer;mor_customer_id;reference\r\n${of(5)};mc_f1;Müller\r\n`, 'latin1')),
        'Line 2 is not in UTF-8',
      ],
      [file('quote.csv', 'customer,mor_customer_id\n"a,b\n'), 'is not valid CSV'],
      [file('columns.csv', 'cus,mor\na,b\n'), 'There is no column customer.'],
      [file('twice.csv', 'customer,customer,mor_customer_id\na,b,c\n'), 'The column customer is there 2 times.'],
    ] as const) {
      const ran = await run(name);
      expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(said) });
    }
  });

  it('`crossbill import customers` links 20,000 customers with a progress bar and without a request to Stripe', async () => {
    const name = file('many.csv', 'customer;mor_customer_id\n');
    for (let from = 0; from < 20_000; from += 10_000) {
      const some = Array.from({ length: 10_000 }, (_, i) => `cus_many_${from + i};mcus_many_${from + i}\r\n`);
      appendFileSync(join(folder, name), some.join(''));
    }
    const asked = async (): Promise<number> =>
      ((await world.control('GET', '/requests?side=stripe')).body['data'] as unknown[]).length;
    const before = await asked();
    const ran = await run(name);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('Read 20000 lines: 20000 customers linked');
    expect(ran.out).toContain('too many to ask Stripe about. A mistyped id never matches an invoice');
    expect(ran.err).toMatch(/read \[#+\.*\] \d+ %/);
    expect(await asked()).toBe(before);
    const last = appendFileSync.bind(null, join(folder, name));
    last('cus_many_1;mcus_another\r\n');
    expect(await report(name)).toMatchObject({ accepted: false, linked: 0, problems: [{ line: 20_002 }] });
  });

  it('the audit log names who ran each customer import, and counts the linked customers and the wrong lines', async () => {
    const audit = await world.api<{ data: Json[] }>('GET', '/v1/audit?action=customer.import&limit=100');
    const outcomes = audit.body.data.map((a) => a['outcome']);
    expect(outcomes).toEqual(expect.arrayContaining(['begun', 'done', 'failed']));
    expect(audit.body.data.map((a) => a['detail'])).toContainEqual({
      accepted: false,
      lines: 12,
      linked: 0,
      problems: 10,
    });
    expect(audit.body.data[0]).toMatchObject({ actor: 'cli:ada' });
  });

  describe('POST /v1/customers', () => {
    const link = (body: Json, headers: Record<string, string> = {}) =>
      world.api('POST', '/v1/customers', body, headers);

    it('POST /v1/customers answers 201 to a new link and 200 to a repeated link, and a repeat without a reference keeps the reference', async () => {
      const body = { customer_id: of(5), mor_customer_id: 'mcus_5' };
      expect(await link(body)).toMatchObject({ status: 201, body: { ...body, reference: null, linked_by: 'ops' } });
      expect(await link({ ...body, reference: 'b2' })).toMatchObject({ status: 200, body: { reference: 'b2' } });
      expect(await link(body)).toMatchObject({ status: 200, body: { reference: 'b2' } });
    });

    it('if two simultaneous POST /v1/customers link one customer to different MoR customers, one request gets 201, the other 409', async () => {
      const both = await Promise.all(
        ['mcus_6', 'mcus_66'].map((id) => link({ customer_id: of(6), mor_customer_id: id })),
      );
      expect(both.map((r) => r.status).sort()).toEqual([201, 409]);
      expect(await links(`&customer=${of(6)}`)).toHaveLength(1);
    });

    it('POST /v1/customers answers 409 if the customer or the MoR customer is already linked elsewhere, and names the field', async () => {
      expect(await link({ customer_id: of(5), mor_customer_id: 'mcus_x' })).toMatchObject(
        refusal(409, 'customer_linked_otherwise', 'mor_customer_id'),
      );
      expect(await link({ customer_id: of(7), mor_customer_id: 'mcus_5' })).toMatchObject(
        refusal(409, 'customer_linked_otherwise', 'customer_id'),
      );
    });

    it('POST /v1/customers refuses a used idempotency key with another body, a missing field, and a read-only API key', async () => {
      const key = { 'idempotency-key': 'link-1' };
      const body = { customer_id: of(7), mor_customer_id: 'mcus_7' };
      expect((await link(body, key)).status).toBe(201);
      expect((await link(body, key)).status).toBe(200);
      expect(await link({ ...body, reference: 'x' }, key)).toMatchObject(refusal(409, 'idempotency_conflict'));
      expect(await link({ customer_id: of(7) })).toMatchObject(wrongField('mor_customer_id'));
      expect((await link(body, { authorization: `Bearer ${READ_KEY}` })).status).toBe(403);
    });

    it.each([['mc_0007\u200b'], ['1.23457E+16'], ['="mc_0008"'], [' mc_0009 ']])(
      'POST /v1/customers refuses the malformed id %j and names its field',
      async (text) => {
        for (const field of ['customer_id', 'mor_customer_id', 'reference']) {
          const body = { customer_id: 'cus_e1', mor_customer_id: 'mc_e1', [field]: text };
          expect(await link(body)).toMatchObject(refusal(400, 'invalid_request', field));
        }
        expect(await links('&customer=cus_e1')).toEqual([]);
      },
    );

    it('GET /v1/customers pages the links newest first, and refuses an unknown parameter', async () => {
      const first = await world.api<{ data: Json[]; next_cursor: string }>('GET', '/v1/customers?limit=2');
      expect(first.body.data.map((l) => l['customer_id'])).toEqual([of(7), of(6)]);
      const remaining = await world.api<{ data: Json[] }>(
        'GET',
        `/v1/customers?limit=2&cursor=${first.body.next_cursor}`,
      );
      expect(remaining.body.data[0]).toMatchObject({ customer_id: of(5) });
      for (const wrong of ['limit=0', 'cursor=x', 'customr=1', 'since=yesterday'])
        expect((await world.api('GET', `/v1/customers?${wrong}`)).status).toBe(400);
      expect(await links('&until=2020-01-01')).toEqual([]);
      expect(await links(`&since=2020-01-01&customer_id=${of(7)}`)).toHaveLength(1);
    });
  });
});
