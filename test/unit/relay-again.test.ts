// An invoice.created that a person sends again, or that waits for the MoR, beside another charge: the MoR would take it for a retry.
import { expect, it } from '@jest/globals';
import { resolveReview } from '../../src/decisions/decide.js';
import { delivery, INVOICE_ID, invoiceEvent } from '../support/builders.js';
import { failed } from '../support/fakes.js';
import { DAY_MS, HOUR_MS, refused, relayed, retry, type Rig, rig, state } from '../support/retry-rig.js';

const ids = (r: Rig): string[] => relayed(r).map((e) => e.id);

async function refusedByItsAddress({ h }: Rig, eventId: string): Promise<void> {
  const send = h.relay.send.bind(h.relay);
  h.relay.send = async () => failed('refused', { status: 404 });
  await h.take(invoiceEvent('invoice.created', { eventId, at: h.clock.now() }));
  h.relay.send = send;
}

async function sendAgain(r: Rig): Promise<void> {
  const item = (await state(r)).reviews.find((x) => x.kind === 'effect_failed' && x.status === 'open');
  const choice = { resolution: 'retry', note: null, by: 'ada' } as const;
  await r.h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  await r.h.rest(1);
}

it('one that was refused is sent again when a person says so', async () => {
  const r = rig({ retrySchedule: null });
  await refusedByItsAddress(r, 'evt_a');
  await sendAgain(r);
  expect(ids(r)).toEqual(['evt_a']);
});

it('one that was refused is not sent again beside another that the MoR has heard', async () => {
  const r = rig({ retrySchedule: null });
  await refusedByItsAddress(r, 'evt_a');
  await r.h.take(invoiceEvent('invoice.created', { eventId: 'evt_b' }));
  await sendAgain(r);
  expect(ids(r)).toEqual(['evt_b']);
});

it('nor beside a retry of the charge that a person has ordered', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r);
  r.h.clock.advance(HOUR_MS);
  await refusedByItsAddress(r, 'evt_b');
  expect((await retry(r)).ok).toBe(true);
  await r.h.rest(1);
  await sendAgain(r);
  expect(ids(r)).toEqual([expect.stringMatching(/^evt_crossbill_/)]);
});

it('another one that comes is not sent beside a payment that was announced on a link, also once that link has ended', async () => {
  const r = rig({ retrySchedule: null });
  const { h } = r;
  await refused(r);
  await h.rest(1);
  const [id, type] = ['evt_captured', 'payment.captured'];
  const data = { paymentLinkId: 'link_1', pspReference: 'ch_9' };
  h.clock.advance(7 * DAY_MS);
  const created = h.clock.now().toISOString();
  await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
  expect((await state(r)).objects.map((o) => o.status)).toEqual(['EXPIRED']);
  await h.take(invoiceEvent('invoice.created', { eventId: 'evt_b', at: h.clock.now() }));
  await h.rest(1);
  expect(ids(r)).toEqual([]);
});
