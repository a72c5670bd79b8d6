// What happens with each type of the MoR's service events: the core's events, and those of the features.
import { type EventRow, join } from '../../feature.js';
import { FEATURES } from '../../features.js';
import {
  type MorServiceEvent,
  type MorServiceType,
  type ServiceFacts,
  type ServiceReaders,
} from '../../shared/domain/events/mor-service-event.js';
import { captured } from './rules/capture.js';

const OF_CORE: { readonly [K in 'payment.captured']: EventRow<K> } = { 'payment.captured': captured };

/** Each type has its own row. A feature may replace a row of the core: links take captures too. */
export const EVENT_ROWS: { readonly [K in MorServiceType]: EventRow<K> } = Object.assign(
  {},
  OF_CORE,
  join(FEATURES, 'events'),
);

/** The types Crossbill uses. Setup registers them at the MoR. */
export const MOR_SERVICE_TYPES = Object.keys(EVENT_ROWS) as readonly MorServiceType[];

/** The row of an event. The table pairs each type with its own row; the compiler cannot follow that, so a cast says it. */
export function rowOf(event: MorServiceEvent): EventRow<MorServiceType> {
  return EVENT_ROWS[event.kind] as EventRow<MorServiceType>;
}

const nothingMore = (facts: ServiceFacts): ServiceFacts => facts;

/** The readers of all types, for the parser. A row without a reader has nothing beyond the common facts. */
export const SERVICE_READERS = Object.fromEntries(
  Object.entries(EVENT_ROWS).map(([type, { read }]) => [type, read ?? nothingMore]),
) as ServiceReaders;
