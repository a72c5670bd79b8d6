// For tests in which the MoR's other channels play no part.
import { MorChannels } from '../../../src/shared/domain/ports/mor-channels.js';

/** A lane without the MoR's other channels: any call throws, because it is a bug. */
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
