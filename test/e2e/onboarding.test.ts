// Onboarding and a merchant without a known company, end to end.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Secret } from '../../src/shared/config/index.js';
import { SystemClock } from '../../src/engine/system-ports.js';
import { type MorCredentials, morClient } from '../../src/frames/mor/options.js';
import { OnboardingRepository } from '../../src/features/onboarding/onboarding.repository.js';
import { OnboardingService } from '../../src/features/onboarding/onboarding.service.js';
import { ServerTime } from '../../src/frames/store/database-time.js';
import { createLogger } from '../../src/shared/observe/index.js';
import { Database } from '../../src/frames/store/database.js';
import { company } from '../support/builders/company.js';
import { type Json, READ_KEY, SIGNUP_KEY, type World, startWorld, refusal, wrongField } from '../support/rigs/world.js';

// Onboarding of merchants, end to end: daemon, PostgreSQL and the sandbox's partner API (Document 1).
describe('Onboarding', () => {
  const merchant = (merchantReference: string, over: Json = {}): Json => ({
    merchantReference,
    productCode: 'tor',
    company,
    ...over,
  });

  function secretsOf(character: { clientId: string; clientSecret: string }): MorCredentials {
    return { clientId: character.clientId, clientSecret: new Secret(character.clientSecret) };
  }

  describe('a partner onboards merchants', () => {
    let world: World;
    let db: pg.Pool;

    beforeAll(async () => {
      world = await startWorld();
      await world.startDaemon();
      db = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
      db.on('error', () => undefined); // a connection may still be closing when the test drops its database
    });
    afterEach(async () => {
      await world.control('DELETE', '/faults');
    });
    afterAll(async () => {
      await db.end();
      await world.close();
    });

    const start = (body: Json) => world.api('POST', '/v1/onboarding/merchants', body);
    const read = (reference: string) => world.api('GET', `/v1/onboarding/merchants/${reference}`);
    const product = (reference: string, regions: string[] = ['GB']) =>
      world.api('PUT', `/v1/onboarding/merchants/${reference}/product`, { code: 'tor', regions });
    const business = (reference: string) =>
      world.api('PATCH', `/v1/onboarding/merchants/${reference}/business`, {
        businessDescription: 'Plans for trees',
        storeUrls: ['https://larch.example'],
      });
    const submit = (reference: string) => world.api('POST', `/v1/onboarding/merchants/${reference}/submit`);
    const review = (reference: string, body: Json) => world.control('POST', `/applications/${reference}/review`, body);
    const sent = async (path: string): Promise<number> => {
      const log = await world.control('GET', `/requests?side=mor&path=${encodeURIComponent(path)}`);
      return (log.body['data'] as Json[]).length;
    };
    async function submitted(reference: string): Promise<void> {
      await start(merchant(reference));
      await product(reference);
      await business(reference);
      expect((await submit(reference)).body).toMatchObject({ status: 'submitted', due: [] });
    }

    /** The service of a replica of its own, as often as asked, on the daemon's books. */
    async function withReplicas(work: (replica: () => OnboardingService) => Promise<void>): Promise<void> {
      const { secrets, morUrl } = world.sandbox;
      const clock = new SystemClock();
      const client = morClient(
        {
          ...{ baseUrl: morUrl, authUrl: morUrl, psp: 'cardpsp', setupCustomer: 'send', relay: null },
          merchant: secretsOf(secrets.merchant),
          partner: secretsOf(secrets.partner),
        },
        clock,
      );
      const books = await Database.open({ url: world.databaseUrl, poolSize: 3, onError: () => undefined });
      try {
        const { partner, merchants, applications } = client;
        const rows = new OnboardingRepository(books, new ServerTime());
        const log = createLogger({ level: 'silent', secrets: [], pretty: false });
        await work(
          () => new OnboardingService(partner, merchants, applications, rows, clock, { sendsNothing: false }, log),
        );
      } finally {
        await client.close();
        await books.close();
      }
    }

    async function apply(replica: OnboardingService, merchant: Json): Promise<{ steps: string[]; done: unknown }> {
      const steps: string[] = [];
      const done = await replica.apply(merchant, 'anna', (step) => steps.push(step));
      return { steps, done };
    }

    it("a partner starts a merchant's application to the MoR, meets the requirements, submits, and reads the approval", async () => {
      const begun = await start(merchant('larch'));
      expect(begun).toMatchObject({
        status: 201,
        body: {
          reference: 'larch',
          status: 'created',
          due: ['selectedRegions', 'businessDescription', 'checkoutUrl'],
          errors: [],
          product: { code: 'tor', regions: [] },
          submitted_at: null,
          existing_application: false,
        },
      });
      expect(String(begun.body['merchant_id'])).toMatch(/^[0-9a-f-]{36}$/);
      expect(String(begun.body['application_id'])).toMatch(/^[0-9a-f-]{36}$/);
      expect(begun.body['next']).toContain('storeUrls');
      expect((await product('larch')).body).toMatchObject({ due: ['businessDescription', 'checkoutUrl'] });
      expect((await business('larch')).body).toMatchObject({ due: [], next: expect.stringContaining('submit it') });
      const waits = await submit('larch');
      expect(waits.status).toBe(200);
      expect(waits.body['submitted_at']).not.toBeNull();
      await review('larch', { outcome: 'approved', message: 'welcome' });
      expect((await read('larch')).body).toMatchObject({ status: 'approved', review_message: 'welcome' });
      const asked = await sent('/partner/api/merchants');
      await read('larch');
      expect(await sent('/partner/api/merchants')).toBe(asked); // final: not asked for any more
    });

    it("a partner reads the reviewer's comments, and submits the application again", async () => {
      await submitted('birch');
      const errors = [{ field: 'businessDescription', message: 'say more' }];
      await review('birch', { outcome: 'changes_requested', message: 'nearly', errors });
      expect((await read('birch')).body).toMatchObject({
        status: 'changes_requested',
        errors,
        review_message: 'nearly',
      });
      const again = await world.api('PATCH', '/v1/onboarding/merchants/birch/business', {
        businessDescription: 'Plans',
      });
      expect(again.body).toMatchObject({ errors: [] });
      expect((await submit('birch')).body).toMatchObject({ status: 'submitted' });
      await review('birch', { outcome: 'rejected', message: 'no' });
      expect((await read('birch')).body).toMatchObject({ status: 'rejected', review_message: 'no' });
      expect(await submit('birch')).toMatchObject(refusal(409, 'invalid_status'));
      expect(await product('birch')).toMatchObject(refusal(409, 'invalid_status'));
    });

    it('if a partner submits an application twice, Crossbill answers with the status `submitted` both times', async () => {
      await submitted('rowan');
      expect(await submit('rowan')).toMatchObject({ status: 200, body: { status: 'submitted' } });
      expect(await business('rowan')).toMatchObject(refusal(409, 'invalid_status'));
    });

    it('Crossbill names every missing requirement when a partner submits an application', async () => {
      await start(merchant('aspen'));
      const refused = await submit('aspen');
      expect(refused).toMatchObject(refusal(400, 'incomplete_application'));
      const errors = refused.body['errors'] as { field: string }[];
      expect(errors.map((e) => e.field)).toEqual(['selectedRegions', 'businessDescription', 'checkoutUrl']);
    });

    it('Crossbill makes one merchant from two starts with one reference, and reports other company details as discarded', async () => {
      const first = await start(merchant('alder'));
      const same = await start(merchant('alder'));
      expect(same.status).toBe(200);
      expect(same.body['application_id']).toBe(first.body['application_id']);
      expect(same.body['notice']).toBeUndefined();
      const other = await start(merchant('alder', { company: { ...company, legalName: 'Another Ltd' } }));
      expect(other).toMatchObject({ status: 200, body: { company_discarded: true, existing_application: true } });
      expect(other.body['notice']).toContain('discarded');
      const both = await Promise.all([start(merchant('elm')), start(merchant('elm'))]);
      expect(both.map((b) => b.status).sort()).toEqual([200, 201]);
      expect(both[0].body['merchant_id']).toBe(both[1].body['merchant_id']);
    });

    it('Crossbill takes over an application started at the MoR without Crossbill', async () => {
      const { partner } = world.sandbox.secrets;
      const token = await fetch(`${world.sandbox.morUrl}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: partner.clientId,
          client_secret: partner.clientSecret,
        }),
      });
      const { access_token: bearer } = (await token.json()) as { access_token: string };
      await fetch(`${world.sandbox.morUrl}/partner/api/onboarding/initiate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...merchant('maple'), mode: 'API' }),
      });
      expect((await read('maple')).body).toMatchObject({ status: 'created', existing_application: true });
      const begun = await start(merchant('maple'));
      expect(begun).toMatchObject({ status: 200, body: { company_discarded: true } });
    });

    it("if the MoR starts an application but then fails to return it, the partner's next request to Crossbill shows the application", async () => {
      await world.fault({ side: 'mor', method: 'GET', path: '/partner/api/merchants', action: 'status', status: 503 });
      expect(await start(merchant('hazel'))).toMatchObject(refusal(502, 'mor_unavailable'));
      expect(await sent('/partner/api/onboarding/initiate')).toBeGreaterThan(0);
      const resumed = await read('hazel');
      expect(resumed.body).toMatchObject({ status: 'created', existing_application: false });
      expect(resumed.body['application_id']).not.toBeNull();
    });

    it("if the MoR's response to a new application is lost, Crossbill finds the application", async () => {
      const path = '/partner/api/onboarding/initiate';
      await world.fault({ side: 'mor', path, action: 'drop_after' });
      expect(await start(merchant('willow'))).toMatchObject({
        status: 201,
        body: { status: 'created', company_discarded: false },
      });
      const willow = await start(merchant('willow'));
      expect(willow).toMatchObject({ status: 200, body: { company_discarded: false, existing_application: false } });
      expect(willow.body['notice']).toBeUndefined();
      expect(willow.body['application_id']).not.toBeNull();
      // Neither an answer nor a list: repeating the request finds the first one's object.
      await world.fault({ side: 'mor', path, action: 'drop_after' });
      await world.fault({ side: 'mor', path: '/partner/api/merchants', action: 'status', status: 500 });
      expect((await start(merchant('poplar'))).status).toBe(502);
      const again = await start(merchant('poplar'));
      expect(again).toMatchObject({ status: 201, body: { status: 'created', company_discarded: false } });
      const listed = await db.query(`select merchant_id from onboarding where reference = 'poplar'`);
      expect(listed.rowCount).toBe(1);
    });

    it('if the MoR answers 500 to the start of an application, Crossbill answers 502 and does not send the start again', async () => {
      const path = '/partner/api/onboarding/initiate';
      const before = await sent(path);
      await world.fault({ side: 'mor', path, action: 'status', status: 500, code: 'internal_error' });
      const refused = await start(merchant('yew'));
      expect(refused).toMatchObject(refusal(502, 'mor_unavailable'));
      expect(refused.body['message']).toContain('A repeat would fail again');
      expect(await sent(path)).toBe(before + 1);
      expect((await start(merchant('yew'))).status).toBe(201);
    });

    it('Crossbill answers 404 to onboarding requests about an unknown merchant', async () => {
      for (const reply of [
        await read('nobody'),
        await product('nobody'),
        await business('nobody'),
        await submit('nobody'),
      ]) {
        expect(reply).toMatchObject(refusal(404, 'not_found'));
      }
    });

    it('among all replicas, only one asks the MoR for the outcome of a submitted application', async () => {
      await submitted('cedar');
      await review('cedar', { outcome: 'approved', message: 'good' });
      const { rows } = await db.query<Json>(`select merchant_id from onboarding where reference = 'cedar'`);
      const application = `/partner/api/merchants/${String(rows[0]?.['merchant_id'])}/application`;
      const before = await sent(application);
      await db.query(`update onboarding set poll_at = null where reference <> 'cedar'`);
      await db.query(`update onboarding set poll_at = now() - interval '1 second' where reference = 'cedar'`);
      await withReplicas(async (replica) => {
        await Promise.all([replica().poll(), replica().poll(), replica().poll()]);
        // The daemon looks once a minute, and may be the one.
        const known = await world.until(
          'its outcome is known',
          () => db.query<Json>(`select status, review_message, poll_at from onboarding where reference = 'cedar'`),
          (r) => r.rows[0]?.['status'] === 'approved',
        );
        expect(known.rows).toEqual([{ status: 'approved', review_message: 'good', poll_at: null }]);
        expect(await sent(application)).toBe(before + 1);
        // The whole way from one description, and again: the second run changes only the changeable parts.
        const all = merchant('spruce', {
          regions: ['GB'],
          businessDescription: 'Trees',
          storeUrls: ['https://x.example'],
        });
        const applied = await apply(replica(), all);
        expect(applied.steps).toEqual(['start', 'product', 'business', 'submit']);
        expect(applied.done).toMatchObject({ row: { status: 'submitted', regions: ['GB'] } });
        expect((await apply(replica(), all)).steps).toEqual(['start']);
      });
    });

    it('Crossbill warns about a merchant without company details, and makes the merchant only once', async () => {
      const bare = { merchantReference: 'juniper', withoutCompany: true, productCode: 'tor' };
      const made = await start(bare);
      expect(made).toMatchObject({ status: 201, body: { status: 'requested', company_discarded: false } });
      expect(made.body['notice']).toContain('takes none later');
      expect(made.body['next']).toContain('choose product and regions');
      const again = await start(bare);
      expect(again).toMatchObject({ status: 200, body: { merchant_id: made.body['merchant_id'] } });
      expect((await product('juniper')).body).toMatchObject({ status: 'created' });
      const whole = {
        ...bare,
        merchantReference: 'fir',
        regions: ['GB'],
        businessDescription: 'Trees',
        storeUrls: ['https://fir.example'],
      };
      await withReplicas(async (replica) => {
        const applied = await apply(replica(), whole);
        expect(applied.steps).toEqual(['start', 'product', 'business', 'submit']);
        expect(applied.done).toMatchObject({ row: { status: 'submitted' } });
      });
      for (const [body, field] of [
        [{ withoutCompany: true }, 'merchantReference'],
        [{ merchantReference: 'oak', withoutCompany: 'yes' }, 'withoutCompany'],
        [{ ...bare, company }, 'company'],
      ] as const) {
        expect(await start(body)).toMatchObject(wrongField(field));
      }
    });

    it('after an unanswered start with company details, Crossbill refuses to start the same merchant without company details', async () => {
      for (const path of ['/partner/api/onboarding/initiate', '/partner/api/merchants']) {
        await world.fault({ side: 'mor', path, action: 'drop_before' });
      }
      expect((await start(merchant('larix'))).status).toBe(502);
      const refused = await start({ merchantReference: 'larix', withoutCompany: true });
      expect(refused).toMatchObject(refusal(409, 'onboarding_begun'));
      expect((await start(merchant('larix'))).status).toBe(201);
    });

    it('the API pages the merchants, lists the regions, has audit entries of onboarding, and refuses keys without the ops role', async () => {
      const list = await world.api<{ data: Json[]; next_cursor?: string }>('GET', '/v1/onboarding/merchants?limit=2');
      expect(list.body.data).toHaveLength(2);
      const next = await world.api<{ data: Json[] }>(
        'GET',
        `/v1/onboarding/merchants?limit=2&cursor=${list.body.next_cursor ?? ''}`,
      );
      expect(next.body.data[0]?.['reference']).not.toBe(list.body.data[0]?.['reference']);
      expect(await world.api('GET', '/v1/onboarding/merchants?limit=0')).toMatchObject({ status: 400 });
      expect(await world.api('GET', '/v1/onboarding/merchants?cursor=x')).toMatchObject({ status: 400 });
      const regions = await world.api<{ data: Json[] }>('GET', '/v1/onboarding/regions');
      expect(regions.body.data[0]).toMatchObject({ name: expect.any(String), flagCode: expect.any(String) });
      const audit = await world.api<{ data: Json[] }>('GET', '/v1/audit?action=onboarding.submit');
      expect(audit.body.data.map((a) => a['target'])).toContain('birch');
      for (const key of [READ_KEY, SIGNUP_KEY]) {
        const headers = { authorization: `Bearer ${key}` };
        expect((await world.api('GET', '/v1/onboarding/merchants', undefined, headers)).status).toBe(403);
        expect((await world.api('POST', '/v1/onboarding/merchants', merchant('x'), headers)).status).toBe(403);
      }
    });
  });

  it('Crossbill answers onboarding_not_configured to onboarding requests without partner credentials', async () => {
    const world = await startWorld();
    delete world.env['MOR_PARTNER_CLIENT_ID'];
    delete world.env['MOR_PARTNER_CLIENT_SECRET'];
    try {
      await world.startDaemon();
      for (const [method, path] of [
        ['GET', 'regions'],
        ['GET', 'merchants'],
        ['GET', 'merchants/x'],
        ['POST', 'merchants/x/submit'],
      ] as const) {
        const reply = await world.api(method, `/v1/onboarding/${path}`);
        expect(reply).toMatchObject(refusal(409, 'onboarding_not_configured'));
      }
      const begun = await world.api('POST', '/v1/onboarding/merchants', merchant('larch'));
      expect(begun).toMatchObject(refusal(409, 'onboarding_not_configured'));
    } finally {
      await world.close();
    }
  });
});
