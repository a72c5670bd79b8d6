// Gives the engine the rules of invoices, refunds and so on (subjects.ts), and answers the engine's questions about
// other invoices from the stores.
import { type NewNotification, type NotifyAs, type Notice } from '../../shared/domain/notification.js';
import { onlySlot } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { type Elsewhere } from '../../engine/context.js';
import { type Customers, type Signups } from '../../engine/lookup.js';
import { type CallRow } from '../../shared/domain/call-row.js';
import { type PaymentsRepository } from '../payments/payments.repository.js';
import { type RefundsRepository } from '../refunds/refunds.repository.js';
import { EVERYBODY_ENROLLED } from '../../shared/domain/ports/enrolment.js';
import { type DecidedEvent, Decider, type TellStep } from '../../engine/decider.js';
import { type Claim } from '../../engine/lane.repository.js';
import { type RouteEventsService } from '../mor-objects/route-events.service.js';
import { SUBJECTS } from './subjects.js';

const NOTIFY = onlySlot(FEATURES, 'notify')?.(FEATURES);

/** The stores for facts from outside the lane of one invoice. */
export type Books = {
  readonly payments: Pick<PaymentsRepository, 'namedElsewhere' | 'collectedElsewhere'>;
  readonly refunds: Pick<RefundsRepository, 'namedElsewhere'>;
  readonly signups: Signups;
};

export class Decisions extends Decider {
  readonly subjects = SUBJECTS;

  constructor(
    private readonly router: Pick<RouteEventsService, 'run'>,
    private readonly books: Books,
    readonly customers: Customers = EVERYBODY_ENROLLED,
  ) {
    super();
  }

  putDownAs(as: NotifyAs): ((notice: Notice, at: Date) => NewNotification) | null {
    return NOTIFY === undefined ? null : (notice, at) => NOTIFY.putDown(notice, as, at);
  }

  tellAs(as: NotifyAs): TellStep | null {
    return NOTIFY === undefined ? null : (before, after, at) => NOTIFY.putDownStep(before, after, as, at);
  }

  get signups(): Signups {
    return this.books.signups;
  }

  async heldElsewhere(
    lane: string,
    names: { readonly payments: readonly string[]; readonly charges: readonly string[] },
  ): Promise<Elsewhere | null> {
    const { payments } = this.books;
    const paymentsElsewhere = await payments.namedElsewhere(names.payments, lane);
    const chargesElsewhere = await payments.collectedElsewhere(names.charges, lane);
    return paymentsElsewhere.size + chargesElsewhere.size === 0 ? null : { paymentsElsewhere, chargesElsewhere };
  }

  /**
   * Stripe accepts only one refund under each reference. If Stripe refused a report, finds the refund with the same
   * reference on another invoice, so a person can look at it.
   */
  async refusedBecause({ asked }: CallRow): Promise<Elsewhere> {
    if (asked?.kind !== 'report_refund') return {};
    return { refundsElsewhere: await this.books.refunds.namedElsewhere(asked.reference, asked.invoiceId) };
  }

  route(claim: Claim): Promise<readonly DecidedEvent[]> {
    return this.router.run(claim);
  }
}
