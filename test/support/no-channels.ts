// For tests without a part for the MoR's other channels.
import { HomelessEvents, type Home, type RoutedEvent } from '../../src/mor-objects/homeless-events.js';
import { MorChannels } from '../../src/domain/ports/mor-channels.js';

/** For lanes without any of the MoR's other channels: a call is a bug. */
export class NoChannels extends MorChannels {
  override createProforma(): never {
    throw new Error('no proforma invoice was expected');
  }

  override createLink(): never {
    throw new Error('no payment link was expected');
  }

  override read(): never {
    throw new Error('no read was expected');
  }
}

/** Events without an invoice: none. */
export class NoHomelessEvents extends HomelessEvents {
  override async load(): Promise<readonly RoutedEvent[]> {
    return [];
  }

  override async homes(): Promise<readonly Home[]> {
    return [];
  }

  override async route(): Promise<void> {
    return undefined;
  }
}
