// The parser of deliveries, with the events of the core and of all features.
import { EventParser } from '../../shared/domain/events/stored-event.js';
import { SERVICE_READERS } from '../mor-objects/event-rows.js';

export const eventParser = new EventParser(SERVICE_READERS);
