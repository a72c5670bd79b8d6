// What the newest comparison with Stripe and the MoR found about an invoice or a month.
import { type Difference, type MonthCompared } from '../difference.js';

/** A difference without a person's acknowledgement. `foundAt`: the end of the comparison. */
export type OpenDifference = Difference & { readonly foundAt: Date };

export abstract class Differences {
  /** The unsettled differences of an invoice, in the order of the comparison. */
  abstract ofInvoice(invoiceId: string): Promise<readonly OpenDifference[]>;
  /** The comparison of a month. */
  abstract ofMonth(month: { readonly since: Date; readonly until: Date }): Promise<MonthCompared>;
}

/** Without a feature that compares, nothing is compared. */
export const NOTHING_COMPARED: Differences = {
  ofInvoice: () => Promise.resolve([]),
  ofMonth: () => Promise.resolve({ differences: 0, comparedAt: null, isWhole: false }),
};
