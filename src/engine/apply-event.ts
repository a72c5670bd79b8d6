// Takes one event into a lane: what it says is recorded by its subject; what follows from it, settle.ts decides.
import { PAYMENT_EVENTS, SERVICE_EVENTS } from '../decisions/subjects.js';
import { type LaneState } from '../domain/model.js';
import { type Applied, type ChannelEvent, type LaneEvent } from './event.js';
import { type Ctx, note } from './change.js';
import { applyInvoice } from '../invoices/rules/invoice-event.js';
import { tellRenamed } from '../refunds/rules/misnamed-payment.js';
import { ensureInvoice } from './facts.js';
import { type MorServiceType, type ServiceEvent } from '../domain/events/mor-service-event.js';

/** Records one event. Pure; every event may come twice, late, early or never. */
export function applyEvent(s: LaneState, event: LaneEvent | ChannelEvent, ctx: Ctx): Applied {
  const { state: taken, verdict } = take(s, event, ctx);
  const state = event.family === 'payment' ? tellRenamed(s, taken, ctx) : taken;
  const text = verdict.reason === null ? event.type : `${event.type}: ${verdict.reason}`;
  return { verdict, state: note(state, ctx, 'event', text, event.eventId) };
}

function take(s: LaneState, e: LaneEvent | ChannelEvent, ctx: Ctx): Applied {
  if (e.family === 'invoice') return applyInvoice(s, e, ctx);
  const { state } = ensureInvoice(s, ctx);
  return e.family === 'payment'
    ? PAYMENT_EVENTS[e.type](state, e, ctx)
    : takeService(state, e.event.kind, e.event, ctx);
}

function takeService<K extends MorServiceType>(s: LaneState, kind: K, e: ServiceEvent<K>, ctx: Ctx): Applied {
  return SERVICE_EVENTS[kind](s, e, ctx);
}
