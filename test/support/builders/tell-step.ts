// The notifications of one step of a lane, with those of all features, and lanes for it.
import { FEATURES } from '../../../src/features.js';
import { tellLane } from '../../../src/features/notifications/rules/tell-lane.js';
import { type InvoiceRow } from '../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type AttemptRow } from '../../../src/shared/domain/payment-row.js';
import { type NotificationType, type Notice } from '../../../src/shared/domain/notification.js';
import { anOpenInvoice, NOW } from './channel-lane.js';

export const tellStep = (before: LaneState, after: LaneState): readonly Notice[] => tellLane(before, after, FEATURES);

export const NEXT_TRY = new Date('2026-11-23T12:00:00Z');

export const notified = (type: NotificationType, before: LaneState, after: LaneState): readonly Notice[] =>
  tellStep(before, after).filter((t) => t.type === type);
export const invoiceIs = (state: LaneState, over: Partial<InvoiceRow>): LaneState => ({
  ...state,
  invoice: state.invoice === null ? null : { ...state.invoice, ...over },
});
export const open = invoiceIs(anOpenInvoice(), { status: 'open' });

const verdict = (over: Partial<AttemptRow> = {}): AttemptRow => ({
  ...{ eventId: 'evt_9', invoiceId: 'in_1', paymentId: 'pay_9', outcome: 'failed', amount: 2990n, currency: 'EUR' },
  ...{ failureMessage: 'Ada has no money', declineCode: 'expired_card', processorPaymentIntentId: 'pi_9', at: NOW },
  ...over,
});
/** The open invoice after a verdict of the MoR. */
export const afterVerdict = (over: Partial<AttemptRow> = {}, state = open): LaneState => ({
  ...state,
  attempts: [verdict(over)],
});
