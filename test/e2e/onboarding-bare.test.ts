// Merchants whose company is not known (Document 1, POST /partner/api/merchants): made once, with a warning, never by accident.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Secret } from '../../src/config/index.js';
import { applyMerchant } from '../../src/onboarding/onboarding-apply.js';
import { OnboardingFlow } from '../../src/onboarding/onboarding.flow.js';
import { PartnerDesk } from '../../src/mor/mor-partner-desk.js';
import { morClient, type MorCredentials, type MorOptions } from '../../src/mor/options.js';
import { ServerTime } from '../../src/store/database-time.js';
import { Database } from '../../src/store/database.js';
import { OnboardingStore } from '../../src/onboarding/onboarding.store.js';
import { SystemClock } from '../../src/engine/system-ports.js';
import { company } from '../support/company.js';
import { type Json, type Reply, startWorld, type World } from '../support/world.js';

const merchant = (merchantReference: string): Json => ({ merchantReference, productCode: 'tor', company });

function secretsOf(c: { clientId: string; clientSecret: string }): MorCredentials {
  return { clientId: c.clientId, clientSecret: new Secret(c.clientSecret) };
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon();
});
afterAll(() => world.close());

const start = (body: unknown): Promise<Reply> => world.api('POST', '/v1/onboarding/merchants', body);
const product = (reference: string): Promise<Reply> =>
  world.api('PUT', `/v1/onboarding/merchants/${reference}/product`, { code: 'tor', regions: ['GB'] });

it('makes a merchant whose company is not known, with the warning that it stays so, once, and no second application', async () => {
  const bare = { merchantReference: 'juniper', withoutCompany: true, productCode: 'tor' };
  const made = await start(bare);
  expect(made).toMatchObject({ status: 201, body: { status: 'requested', company_discarded: false } });
  expect(made.body['notice']).toContain('never be filled in');
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
  const { secrets, morUrl } = world.sandbox;
  const options: MorOptions = {
    baseUrl: morUrl,
    authUrl: morUrl,
    psp: 'cardpsp',
    setupCustomer: 'send',
    merchant: secretsOf(secrets.merchant),
    partner: secretsOf(secrets.partner),
    relay: null,
  };
  const clock = new SystemClock();
  const client = morClient(options, clock);
  const books = await Database.open({ url: world.databaseUrl, poolSize: 1, onError: () => undefined });
  try {
    const desk = new PartnerDesk(client.partner, client.merchants, client.applications);
    const applied = await applyMerchant(
      new OnboardingFlow(desk, new OnboardingStore(books, new ServerTime()), clock),
      whole,
      'anna',
    );
    expect(applied.steps).toEqual(['start', 'product', 'business', 'submit']);
    expect(applied.result).toMatchObject({ ok: true, value: { row: { status: 'submitted' } } });
  } finally {
    await client.close();
    await books.close();
  }
  for (const [body, field] of [
    [{ withoutCompany: true }, 'merchantReference'],
    [{ merchantReference: 'oak', withoutCompany: 'yes' }, 'withoutCompany'],
    [{ ...bare, company }, 'company'],
  ] as const) {
    expect(await start(body)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  }
});

it('makes no merchant without company details while an application with them is unanswered', async () => {
  for (const path of ['/partner/api/onboarding/initiate', '/partner/api/merchants']) {
    await world.control('POST', '/faults', { side: 'mor', path, action: 'drop_before' });
  }
  expect((await start(merchant('larix'))).status).toBe(502);
  const refused = await start({ merchantReference: 'larix', withoutCompany: true });
  expect(refused).toMatchObject({ status: 409, body: { code: 'onboarding_begun' } });
  expect((await start(merchant('larix'))).status).toBe(201);
});
