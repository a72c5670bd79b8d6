// Tax at the MoR (Document 2), as a signup needs it.
import { type CallOutcome, type WireRequest } from './call.js';

export type TaxCalculationFacts = {
  readonly taxCalculationId: string;
  readonly currency: string; // upper case
  /** The total with tax and duty. Null: the MoR's total is no exact amount of the currency. */
  readonly total: bigint | null;
};

export abstract class TaxClient {
  /**
   * Requests a tax calculation. The request has no key, so a second try makes a second calculation. This is harmless: a
   * calculation moves no money and obliges nobody.
   */
  abstract calculate(wire: WireRequest): Promise<CallOutcome<TaxCalculationFacts>>;
}
