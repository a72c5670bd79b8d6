// What happens with each type of the MoR's service events: the core's events, and those of the features.
import { ignored } from '../../engine/event.js';
import { type EventRow, join } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { type MorServiceEvent, type MorServiceType } from '../../shared/domain/events/mor-service-event.js';
import { captured } from './rules/capture.js';

const OF_CORE: { readonly 'payment.captured'?: EventRow<'payment.captured'> } = { 'payment.captured': captured };

/** Each type has its own row. A type without a row belongs to a feature that is not here. */
export const EVENT_ROWS: { readonly [K in MorServiceType]?: EventRow<K> } = {
  ...OF_CORE,
  ...join(FEATURES, 'events'), // links take captures too
};

const NOT_TAKEN: EventRow<MorServiceType> = { apply: () => ignored('no feature takes it'), unknown: () => null };

/** The row of an event. The table pairs each type with its own row; the compiler cannot follow that, so a cast says it. */
export function rowOf(event: MorServiceEvent): EventRow<MorServiceType> {
  return (EVENT_ROWS[event.kind] as EventRow<MorServiceType> | undefined) ?? NOT_TAKEN;
}
