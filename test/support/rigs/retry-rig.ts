// A refused renewal with a schedule of retries, on the real lane flow, with the test's own clock.
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type RetrySchedule } from '../../../src/shared/domain/retry.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import { type MadeRetry, requestRetry } from '../../../src/features/retries/rules/retry.js';
import { anInvoice, aPaymentFailed, INVOICE_ID, invoiceEvent } from '../builders/events.js';
import { ManualClock } from '../fakes/clock.js';
import { FakeLinks } from '../fakes/fake-links.js';
import { LaneHarness } from './lane-harness.js';
import { type Commanded, asCommand } from './decide.js';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const days = (...count: number[]) => count.map((d) => ({ do: 'charge', afterMs: d * DAY_MS }) as const);
const LINK = [{ do: 'link' }] as const;
export const SCHEDULE: RetrySchedule = { soft: days(3, 5, 7), hard: LINK, authentication: LINK, end: 'nothing' };
const RECOVERY = { jurisdiction: 'GB', returnUrl: 'https://shop.example/thanks', expiresSec: 7 * 86_400 };

export type Rig = { readonly h: LaneHarness; readonly links: FakeLinks };

export function rig(over: Partial<DecisionSettings> = {}): Rig {
  const clock = new ManualClock();
  const links = new FakeLinks(clock);
  const settings: Partial<DecisionSettings> = {
    relay: 'created',
    recoveryLinks: RECOVERY,
    retrySchedule: SCHEDULE,
    ...over,
  };
  const h = LaneHarness.inMemory({ clock, settings, channels: links });
  h.platform.put(anInvoice());
  return { h, links };
}

export const state = ({ h }: Rig): Promise<LaneState> => h.state(INVOICE_ID);
export const relayed = (rig: Rig) =>
  rig.h.relay.sent.map((body) => JSON.parse(body) as { id: string; type: string; data: { object: { id: string } } });
export const after = async (rig: Rig, ms: number): Promise<void> => {
  rig.h.clock.advance(ms);
  await rig.h.drain();
};

let count = 0;
/** The MoR declines the newest try now. */
export const declined = (rig: Rig, code = 'insufficient_funds') =>
  aPaymentFailed({ paymentId: `pay_${++count}`, declineCode: code, at: rig.h.clock.now() });

export async function refused(rig: Rig, code = 'insufficient_funds'): Promise<void> {
  await rig.h.take(invoiceEvent('invoice.finalized'), declined(rig, code));
}

export function retry(rig: Rig, by = 'ops'): Promise<Commanded<MadeRetry>> {
  rig.h.clock.advance(1_000); // Stripe's state is newer than its last event
  return rig.h.command(INVOICE_ID, (s, ctx) => {
    const invoice = rig.h.platform.invoices.get(INVOICE_ID) ?? anInvoice();
    const status = rig.h.platform.ended.has('sub_oak') ? 'canceled' : 'past_due';
    const shown = { invoice, object: '{}', apiVersion: null, livemode: false, subscriptionStatus: status };
    return asCommand((lane) => requestRetry(lane, { shown, askedAt: ctx.now, by }))(s, ctx);
  });
}
