// For tests in which the MoR's other channels play no part.
import { HomelessEvents, type Home, type RoutedEvent } from '../../src/mor-objects/homeless-events.js';
import { MorChannels } from '../../src/domain/ports/mor-channels.js';

/** For lanes in which none of the MoR's other channels is used: whoever asks it has a bug. */
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

/** Events that name no invoice: none. */
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
