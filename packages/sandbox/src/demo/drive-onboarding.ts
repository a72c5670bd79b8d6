// Before the first signup: a platform onboards a merchant (Document 1), and the merchant registers an address for the
// MoR's events (Document 2).
import { type Reading } from './read.js';
import { type Story } from './story.js';

const COMPANY = {
  legalName: 'Larch Software GmbH',
  website: 'https://larch.example',
  taxId: 'DE123456789',
  registrationNumber: 'HRB 4711',
  jurisdiction: 'DE',
  registeredAddress: { line1: 'Lindenallee 1', city: 'Berlin', postalCode: '10115', country: 'DE' },
};
const BUSINESS = { businessDescription: 'Software for tree nurseries', storeUrls: ['https://larch.example'] };

/**
 * Onboards a merchant, from the first request to the reviewer's approval. Every step is safe to repeat, so the death of
 * the daemon costs only time.
 */
export async function onboardMerchant(story: Story): Promise<void> {
  const { world, progress, tally } = story;
  const reference = `${story.run}-larch`;
  const merchant = `/v1/onboarding/merchants/${reference}`;
  progress.step('onboarding a merchant');
  const begun = { merchantReference: reference, productCode: 'mor', company: COMPANY };
  await world.api.post('/v1/onboarding/merchants', begun);
  await world.api.put(`${merchant}/product`, { code: 'mor', regions: ['DE', 'GB'] });
  expectStatus(await world.api.patch(`${merchant}/business`, BUSINESS), 'created');
  expectStatus(await world.api.post(`${merchant}/submit`, {}), 'submitted');
  await world.control.post(`/_sandbox/applications/${reference}/review`, { outcome: 'approved', message: 'welcome' });
  expectStatus(await world.api.get(merchant), 'approved');
  tally.merchants += 1;
  progress.done('1 merchant onboarded: begun, described, submitted, approved');
}

function expectStatus(merchant: Reading, status: string): void {
  const is = merchant.text('status');
  if (is !== status) throw new Error(`onboarding: ${is}, not ${status}: ${merchant.text('next')}`);
}

/**
 * Registers an address of the merchant's own backend for the MoR's events, and keeps one registration. If the daemon
 * dies after its request to the MoR, the repeated request makes a second registration. Then this function deletes the
 * first one, because nobody received its secret.
 */
export async function registerEndpoint(story: Story): Promise<void> {
  const { api } = story.world;
  const endpoint = { url: 'https://backend.larch.example/mor-events', events: ['report.available'] };
  const made = await api.post('/v1/mor/webhooks', { ...endpoint, description: 'reports for the bookkeeping' });
  if (made.text('secret') === '') throw new Error('the endpoint was registered without a secret');
  const same = (await api.get('/v1/mor/webhooks')).list('data').filter((e) => e.text('url') === endpoint.url);
  for (const e of same) if (e.text('id') !== made.text('id')) await api.delete(`/v1/mor/webhooks/${e.text('id')}`);
  const kept = (await api.get('/v1/mor/webhooks')).list('data').filter((e) => e.text('url') === endpoint.url);
  if (kept.some((e) => e.textOrNull('secret') !== null)) throw new Error('the list of endpoints shows a secret');
  story.tally.endpoints += kept.length;
  story.progress.done(`${kept.length} webhook endpoint registered at the MoR, its secret shown once`);
}
