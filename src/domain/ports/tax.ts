// Tax at the MoR (Document 2), as a signup needs it.
import { type CallOutcome, type WireRequest } from './call.js';

export type TaxCalculationFacts = {
  readonly taxCalculationId: string;
  readonly currency: string; // upper case
  /** With tax and duty; null when it is no exact amount of the currency. */
  readonly total: bigint | null;
};

export abstract class TaxDesk {
  /** Has no key: a second try makes a second calculation. It binds nobody. */
  abstract calculate(wire: WireRequest): Promise<CallOutcome<TaxCalculationFacts>>;
}
