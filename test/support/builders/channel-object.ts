// A payment link and a proforma invoice of 29.90 EUR, the MoR's events and replies about them, and calls, as plain
// values.
import { SERVICE_READERS } from '../../../src/core/mor-objects/event-rows.js';
import { type MorServiceEvent, parseMorServiceEvent } from '../../../src/shared/domain/events/mor-service-event.js';
import { type CallRow } from '../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type MorObjectRow, newMorObject, type Observation } from '../../../src/shared/domain/mor-object.js';
import { type LinkFacts, type ProformaFacts } from '../../../src/shared/domain/ports/mor-channels.js';
import { LINK, NOW, PROFORMA } from './channel-lane.js';
import { at, ctx } from './waiting-payment.js';
import { addCallRow } from '../rigs/decide.js';
import { putObject } from './put-rows.js';

export const eur = (minor: bigint) => ({ minor, currency: 'EUR' });

/** An event announced this payment on a link. Without names the payment has no name. */
export const announced = (over: Partial<Observation> = {}): Observation => ({
  ...{ source: 'event', eventId: 'evt_0', charge: null, paymentId: null, amount: null, currency: null },
  ...{ at: NOW.toISOString(), heardAt: NOW.toISOString(), ...over },
});

/** A link that is payable for a minute. */
export const aLink = (over: Partial<MorObjectRow> = {}): MorObjectRow =>
  newMorObject(NOW, {
    ...{ id: 'lnk_1', kind: 'payment_link', invoiceId: 'in_1', status: 'PAYABLE', morId: LINK, url: 'https://pay/1' },
    ...{ amount: 2990n, currency: 'EUR', deadline: at(60_000), ...over },
  });

export const aProforma = (over: Partial<MorObjectRow> = {}): MorObjectRow =>
  newMorObject(NOW, {
    ...{ id: 'pfm_1', kind: 'proforma', invoiceId: 'in_1', status: 'ISSUED', morId: PROFORMA, number: 'PF-1' },
    ...over,
  });

export const linkFacts = (over: Partial<LinkFacts> = {}): LinkFacts => ({
  ...{ morId: LINK, url: 'https://pay/1', status: 'PAYABLE', priced: eur(2990n), due: eur(2990n), expiresAt: null },
  ...over,
});

export const proformaFacts = (over: Partial<ProformaFacts> = {}): ProformaFacts => ({
  ...{ morId: PROFORMA, number: 'PF-1', status: 'ISSUED', merchantReference: 'in_1', failure: null },
  ...over,
});

export const withObjects = (state: LaneState, ...objects: MorObjectRow[]): LaneState =>
  objects.reduce(putObject, state);

/** The lane with the object, and the stored call that creates the object. */
export function asking(lane: LaneState, object: MorObjectRow): { readonly s: LaneState; readonly m: CallRow } {
  const kind = object.kind === 'proforma' ? 'create_proforma' : 'create_payment_link';
  const wire = { method: 'POST', path: '/x', body: '{}' } as const;
  const state = addCallRow(putObject(lane, object), ctx(), { peer: 'mor', kind, subject: object.id, wire });
  const m = state.calls.at(-1);
  if (m === undefined) throw new Error('nothing is asked for');
  return { s: state, m };
}

/** An event of the MoR's channels. `created` null: the event has no time. */
export function channelEvent(type: string, data: object, created: Date | null = NOW): MorServiceEvent {
  const body = { id: 'evt_1', type, data, ...(created === null ? {} : { created: created.toISOString() }) };
  const parsed = parseMorServiceEvent(Buffer.from(JSON.stringify(body)), SERVICE_READERS);
  if (parsed.usability !== 'usable') throw new Error(parsed.reason);
  return parsed.event;
}
