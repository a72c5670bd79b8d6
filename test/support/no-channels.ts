// For tests without a part for the MoR's other channels.
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
