// A delayed payout: its item, the choice about it, and the notification.
import { type ChoiceRule } from '../../../engine/commanded.js';
import { done, type EventOutcome } from '../../../engine/event.js';
import { type Lane } from '../../../engine/lane.js';
import { type ServiceEvent } from '../../../shared/domain/events/mor-service-event.js';
import { textNamed } from '../../../shared/domain/events/payload-fields.js';
import { type LaneState } from '../../../shared/domain/model.js';
import { text } from '../../../shared/domain/notification-fields.js';
import { invoiceId, notification, page, see } from '../../../shared/domain/notification-parts.js';
import { type Notice } from '../../../shared/domain/notification.js';

type Delayed = ServiceEvent<'payout.delayed'>;

export const itemAbout = ({ eventId: event, data }: Delayed) => ({
  kind: 'payout_delayed' as const,
  fact: { code: 'payout-delayed' as const, event, until: textNamed(data, 'expectedAt') },
});

export function applyDelayed(lane: Lane, event: Delayed): EventOutcome {
  lane.openReview({ ...itemAbout(event), subject: event.eventId, actions: ['apply', 'dismiss'], proposed: null });
  return done('a payout comes later');
}

/** The choice `apply`: a person has asked the MoR. The item closes, and the timeline says so. */
export const acceptDelay: ChoiceRule = (lane, item, { resolution }) => {
  if (resolution === 'apply') lane.log('decision', 'the MoR was asked about the payout', item);
  return null;
};

export const payoutNotifications = {
  'payout.delayed': notification(
    'The MoR pays out later than promised',
    { review_id: text('The review item.', 'rev_sample'), invoice_id: invoiceId, console: page('/console/payouts') },
    (d) => `A payout with the money of invoice ${d.invoice_id} is delayed.${see(d)}`,
  ),
};

export const tellDelays = (before: LaneState, after: LaneState): readonly Notice[] =>
  after.reviews
    .filter((item) => item.kind === 'payout_delayed' && !before.reviews.some(({ id }) => id === item.id))
    .map(({ id, invoiceId: invoice }) => ({
      type: 'payout.delayed',
      subject: id,
      data: { review_id: id, invoice_id: invoice ?? after.lane, console: '/console/payouts' },
    }));
