// Facts about overdue verdicts, signups and drafts.
import { type Money } from '../money.js';
import { type Time } from './parts.js';

export type OverdueFact =
  | {
      readonly code: 'no-verdict';
      readonly due: Money | null;
      readonly since: Time;
      /** The payment the MoR reported, if the ledger has its charge for another invoice. Null: there is none. */
      readonly letGo: { readonly payment: string; readonly charge: string | null } | null;
      /** True: `retry` asks the MoR to charge the amount due. False: `retry` waits for the verdict again. */
      readonly charges: boolean;
    }
  | { readonly code: 'transfer-overdue'; readonly proforma: string; readonly dueAt: Time };

type LateCharge = {
  readonly signup: string | null;
  readonly charge: string | null;
  readonly amount: Money | null;
  readonly since: Time;
  readonly endsAt: Time;
};
export type SignupOverdueFact =
  | ({ readonly code: 'charge-unsettled' } & LateCharge)
  | ({ readonly code: 'charge-unconfirmed' } & LateCharge)
  | {
      readonly code: 'first-invoice-unpaid';
      readonly customer: string | null;
      readonly due: Money;
      readonly since: Time;
    }
  | { readonly code: 'signup-unpaid'; readonly signup: string; readonly customer: string; readonly since: Time };

export type UnprovenFact =
  | { readonly code: 'debit-unsettled'; readonly charge: string | null; readonly since: Time }
  | { readonly code: 'charge-unknown'; readonly charge: string | null; readonly knownSince: Time | null }
  | { readonly code: 'charge-failed'; readonly charge: string | null; readonly reason: string };

export type FinalizationFact =
  | { readonly code: 'finalization-failed'; readonly invoice: string; readonly said: string }
  | { readonly code: 'draft-waits'; readonly taken: Money; readonly since: Time };
