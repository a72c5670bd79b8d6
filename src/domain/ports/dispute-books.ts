// Disputes and alerts, as people look for them.
import { type PaymentRow } from '../model.js';
import { type MorObjectRow } from '../mor-object.js';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums } from './books.js';

export type DisputeFilter = MoneyFilter & {
  readonly kind?: string | undefined;
  readonly status?: string | undefined;
};

/** With what it is about; `payment` null: it is not known which. The amount of the filter is what is disputed. */
export type DisputeItem = {
  readonly dispute: MorObjectRow;
  readonly customerId: string | null;
  readonly payment: Pick<PaymentRow, 'id' | 'paymentId' | 'amount' | 'currency'> | null;
};

export abstract class DisputeBooks {
  /** By the time of their first event, the newest first. Throws BadCursor. */
  abstract list(filter: DisputeFilter, page: PageRequest): Promise<Page<DisputeItem>>;
  /** What is disputed: what the bank says, or else the whole payment. */
  abstract sums(filter: DisputeFilter): Promise<SelectionSums>;
  /** By our id or the MoR's. */
  abstract find(id: string): Promise<MorObjectRow | null>;
}
