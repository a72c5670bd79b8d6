// A customer's new card or bank account: its setup, the report of its confirmation, and the retries of renewals with
// it.
import { Inject, Injectable, Optional } from '@nestjs/common';
import { type Refusal, refuse, refuseUnsent } from '../../engine/commanded.js';
import { CustomersRepository } from './customers.repository.js';
import { type CallFailure } from '../../shared/domain/ports/call.js';
import { PaymentGateway } from '../../shared/domain/ports/payment-gateway.js';
import { type Announcement, PaymentMethodsRepository } from './payment-methods.repository.js';
import { type NamedRequest } from '../../shared/domain/request-name.js';
import { type ConfirmedMethod } from '../../shared/domain/retry.js';
import { LaneChanges } from '../../engine/lane-changes.js';
import { DECISION_SETTINGS } from '../../engine/decision-context.js';
import { type DecisionSettings } from '../../shared/domain/settings.js';
import { EnrolmentPort, EVERYBODY_ENROLLED } from '../../shared/domain/ports/enrolment.js';
import { applyMethod } from '../invoices/rules/refused-renewal.js';
import { METHODS_A_POLL } from '../../shared/policy.js';
import { SignupService, type SignupMade } from '../signups/signup.service.js';

export type MethodRequest = {
  readonly customerId: string;
  readonly paymentMethodTypes: readonly string[] | null;
  readonly taxCalculationId: string | null;
  readonly by: string;
};

export type MethodMade =
  | SignupMade
  | { readonly outcome: 'not_enrolled'; readonly why: string }
  /** Stripe did not show if the customer is enrolled, so Crossbill sent nothing. */
  | { readonly outcome: 'unknown'; readonly failure: CallFailure };

export type Confirmed =
  { readonly ok: true; readonly method: ConfirmedMethod; readonly invoiceIds: readonly string[] } | Refusal;

@Injectable()
export class PaymentMethodsService {
  constructor(
    private readonly methods: PaymentMethodsRepository,
    private readonly signups: SignupService,
    private readonly gateway: PaymentGateway,
    private readonly customers: CustomersRepository,
    private readonly lanes: LaneChanges,
    @Inject(DECISION_SETTINGS) private readonly settings: DecisionSettings,
    @Optional() @Inject(EnrolmentPort) private readonly enrolment: EnrolmentPort = EVERYBODY_ENROLLED,
  ) {}

  /**
   * Creates a setup intent with the customer's data from the newest signup. A repeat under the same Idempotency-Key
   * sends the stored request again, as for a signup.
   */
  async create(req: MethodRequest, name: NamedRequest | null, body: string): Promise<MethodMade> {
    const { customerId, paymentMethodTypes, taxCalculationId, by } = req;
    const found = await this.enrolment.readEnrolment({ customerId, createdAt: null });
    if (!found.ok) return { outcome: 'unknown', failure: found };
    if (!found.value.enrolled) return { outcome: 'not_enrolled', why: found.value.why };
    const before = await this.methods.signupBody(customerId);
    const customer = { ...(before === null ? {} : this.gateway.detailsIn(before)), id: customerId };
    const call = { kind: 'create_setup_intent', customer, paymentMethodTypes } as const;
    const money = { amount: null, currency: null, invoiceId: null, calculation: null } as const;
    return this.signups.create({ kind: 'method', customerId, call, taxCalculationId, by, ...money }, name, body);
  }

  /**
   * Records the customer's confirmation of a setup. Then Crossbill retries each of the customer's refused
   * renewals one time with the new method. After a crash `AnnounceMethods` makes the missing retries.
   * @param setupIntentId null: the newest setup
   */
  async confirm(customerId: string, setupIntentId: string | null, by: string): Promise<Confirmed> {
    if (this.settings.sendsNothing === true) return refuseUnsent();
    const reported = await this.methods.report(customerId, setupIntentId, by);
    if (reported === null) return this.refuse(customerId, setupIntentId);
    const invoiceIds = (await this.methods.refusedRenewals(customerId)).map((r) => r.invoiceId);
    if (reported.isNew) await this.announce(METHODS_A_POLL, customerId);
    return { ok: true, method: reported.method, invoiceIds };
  }

  /**
   * Retries the refused renewals of customers with a newly confirmed method. If Crossbill sends nothing, it retries
   * nothing, now or later.
   * @param customerId null: of all customers
   */
  async announce(limit: number, customerId: string | null = null): Promise<void> {
    const waiting = await this.methods.unannounced(limit, customerId);
    if (waiting.length === 0) return;
    if (this.settings.sendsNothing !== true) for (const one of waiting) await this.tell(one);
    await this.methods.announced(waiting.map((w) => w.method));
  }

  private async tell({ method, invoiceIds }: Announcement): Promise<void> {
    for (const id of invoiceIds) await this.lanes.change(id, (lane) => applyMethod(lane, method));
  }

  private async refuse(customerId: string, setupIntentId: string | null): Promise<Refusal> {
    if ((await this.customers.find(customerId)) === null) return refuse(404, 'not_found', 'There is no such customer.');
    if (setupIntentId !== null)
      return refuse(404, 'not_found', 'This customer has no such setup intent.', 'setup_intent_id');
    const message =
      'Crossbill made no setup intent for this customer. Make one with POST /v1/customers/{id}/payment-method first.';
    return refuse(409, 'payment_method_missing', message);
  }
}
