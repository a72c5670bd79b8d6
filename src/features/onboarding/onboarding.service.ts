// Onboards merchants at the MoR (Document 1). Sends each step, and stores the reply. Every step is safe to repeat.
import {
  type Application,
  Applications,
  bareMerchantRequest,
  describeBusinessRequest,
  encodeInitiate,
  initiateRequest,
  type InitiateRequest,
  type Outcome,
  PartnerApi,
  PartnerMerchants,
  productChoice,
  type Region,
} from '@crossbill/mor';
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { createHash } from 'node:crypto';
import { refuseUnsent } from '../../engine/commanded.js';
import { DECISION_SETTINGS } from '../../engine/decision-context.js';
import { answeredOrThrow, checkedRequest } from '../../frames/api/http/mor-reply.js';
import { morProblem, notFound, Problem, refusalProblem } from '../../frames/api/http/problem.js';
import { type Page, type PageRequest } from '../../shared/domain/page.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { type DecisionSettings } from '../../shared/domain/settings.js';
import { LOG, type Logger } from '../../shared/observe/index.js';
import { BUSY_POLL_EVERY_MS } from '../../shared/policy.js';
import { ONBOARDING_BUSY_MS, ONBOARDING_REPLY_POLL_MS, ONBOARDING_POLL_EVERY_MS } from './rules/limits.js';
import { type OnboardingEntity } from './onboarding.entity.js';
import { OnboardingRepository } from './onboarding.repository.js';
import { compareAttempt, isFinal, isPolled, readInitiated } from './rules/application.js';
import { type Step, STEPS, isWanted, readDescription } from './rules/description.js';
import { type Notice, REFUSALS, UNREADABLE } from './words.js';

export type Onboarded = {
  readonly row: OnboardingEntity;
  /** True if this request began the onboarding. */
  readonly made: boolean;
  /** What a person should know about this request. Null: nothing unusual. */
  readonly notice: Notice | null;
};

const POLLED_AT_ONCE = 50;

/** Every public method throws a Problem: 400 for a wrong request, 404, 409, or the MoR's own refusal. */
@Injectable()
export class OnboardingService {
  constructor(
    private readonly partner: PartnerApi,
    private readonly merchants: PartnerMerchants,
    private readonly applications: Applications,
    private readonly rows: OnboardingRepository,
    private readonly clock: Clock,
    @Inject(DECISION_SETTINGS) private readonly settings: Pick<DecisionSettings, 'sendsNothing'>,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  async regions(): Promise<readonly Region[]> {
    return answeredOrThrow(await this.partner.regions());
  }

  /** The merchants, newest first, from the database, without a request to the MoR. */
  list(page: PageRequest): Promise<Page<OnboardingEntity>> {
    return this.rows.list(page);
  }

  /**
   * Begins an application, or continues the application with this reference: sends initiate, finds the merchant's id,
   * reads the application. After a crash a repeat continues at the interrupted step and makes no second merchant.
   */
  async start(body: unknown, by: string): Promise<Onboarded> {
    this.mustSend();
    if (typeof body === 'object' && body !== null && 'withoutCompany' in body) {
      const { merchantReference: reference, productCode = '' } = checkedRequest(bareMerchantRequest.check(body));
      await this.rows.create({ reference, productCode }, by);
      return this.alone(reference, (row) => this.beginBare(row, productCode));
    }
    const request = checkedRequest(initiateRequest.check(body));
    await this.rows.create({ reference: request.merchantReference, productCode: request.productCode }, by);
    return this.alone(request.merchantReference, (row) => this.begin(row, request));
  }

  /** Reads application and merchant from the MoR. After approval or rejection, returns the stored application. */
  async status(reference: string): Promise<Onboarded> {
    const known = await this.known(reference);
    const isRead = isFinal(known.status);
    const seen = isRead ? { row: known, made: false, notice: null } : await this.read(known);
    if (seen.row.merchantId === null || (isRead && known.merchant !== null)) return seen;
    const read = await this.merchants.read(seen.row.merchantId);
    if (!read.ok) return seen; // the application is known, so do without the merchant
    const { company, businessDescription, storeUrls } = read.value;
    const isGiven = company !== null && [company.legalName, company.website, company.taxId].some((text) => text !== '');
    const merchant = { company: isGiven ? company : null, businessDescription, storeUrls };
    return { ...seen, row: await this.rows.change(seen.row, { merchant }) };
  }

  async chooseProduct(reference: string, body: unknown): Promise<Onboarded> {
    this.mustSend();
    const product = checkedRequest(productChoice.check(body));
    return this.send(reference, (merchantId) => this.applications.chooseProduct(merchantId, product));
  }

  async describeBusiness(reference: string, body: unknown): Promise<Onboarded> {
    this.mustSend();
    const business = checkedRequest(describeBusinessRequest.check(body));
    return this.send(reference, (merchantId) => this.applications.describeBusiness(merchantId, business));
  }

  /** Submits the application. An application submitted before counts as success (Document 1, POST submit). */
  async submit(reference: string): Promise<Onboarded> {
    this.mustSend();
    const done = await this.send(reference, async (merchantId) => {
      const sent = await this.applications.submit(merchantId);
      return sent.ok ? { ...sent, value: sent.value.kind === 'submitted' ? sent.value.application : null } : sent;
    });
    if (done.row.status === 'rejected') throw refusalProblem(REFUSALS.rejected);
    return done;
  }

  /**
   * Runs a merchant's whole onboarding from one description: Document 1's initiate body plus `regions`,
   * `businessDescription`, `storeUrls`, `category`, and `submit` (false: do not submit); or `withoutCompany: true` in
   * place of `company`. A second run sends only what the MoR still lets change. `onStep` is called before each step.
   */
  async apply(merchant: unknown, by: string, onStep: (step: 'start' | Step) => void): Promise<Onboarded> {
    const description = readDescription(merchant);
    onStep('start');
    let done = await this.start(description.start, by);
    const { reference, productCode: code } = done.row;
    const carryOut: Readonly<Record<Step, () => Promise<Onboarded>>> = {
      product: () => this.chooseProduct(reference, { code, regions: description.regions }),
      business: () => this.describeBusiness(reference, description.business),
      submit: () => this.submit(reference),
    };
    for (const step of STEPS) {
      if (!isWanted(step, description, done.row)) continue;
      onStep(step);
      done = await carryOut[step]();
    }
    return done;
  }

  /** Reads the merchants in review: no event reports the outcome. The database gives each to one replica. */
  @Interval(ONBOARDING_REPLY_POLL_MS)
  async poll(): Promise<void> {
    try {
      const due = await this.rows.takeDue(POLLED_AT_ONCE, ONBOARDING_POLL_EVERY_MS);
      for (const row of due) await this.read(row).catch(ignoreProblem);
    } catch (err) {
      this.log.error({ event: 'onboarding.poll_failed', err }, "Couldn't read applications at the MoR");
    }
  }

  /** Refuses in shadow mode, before the row records a request that nobody sends. */
  private mustSend(): void {
    if (this.settings.sendsNothing === true) throw refusalProblem(refuseUnsent());
  }

  private async begin(row: OnboardingEntity, request: InitiateRequest): Promise<Onboarded> {
    const wire = encodeInitiate(request);
    const bodySha256 = createHash('sha256')
      .update(wire.body ?? '')
      .digest('hex');
    if (row.applicationId !== null) return this.read(row, row.bodySha256 === bodySha256 ? null : 'discarded');
    const attempt = compareAttempt(row, bodySha256);
    const sending = await this.rows.change(row, {
      initiates: row.initiates + 1,
      ...(attempt.isUnanswered ? {} : { bodySha256, productCode: request.productCode }),
      ...(row.status === 'refused' ? { status: 'requested' } : {}),
    });
    const sent = await this.partner.sendInitiate(wire);
    if (sent.ok) {
      const { applicationId, isExistingApplication } = sent.value;
      const { made, ...seen } = readInitiated(row, attempt, isExistingApplication);
      const begun = await this.rows.change(sending, { applicationId, ...seen });
      return this.read(begun, seen.companyDiscarded ? 'discarded' : null, made);
    }
    if (sent.kind === 'unknown') {
      // There was no reply. If the MoR's list has the merchant, the application has begun.
      const found = await this.locate(sending).catch(ignoreProblem);
      if (found && found.merchantId !== null)
        return this.read(found, found.companyDiscarded ? 'discarded' : null, row.merchantId === null);
    }
    if (sent.kind === 'refused' && !attempt.isUnanswered) await this.rows.change(sending, { status: 'refused' });
    if (sent.code === 'internal_error') throw new Problem(502, 'mor_unavailable', UNREADABLE, sent.errors);
    throw morProblem(sent);
  }

  /**
   * Begins a merchant without company details. Refuses if an application with details has no reply yet: its details
   * would be lost for good.
   */
  private async beginBare(row: OnboardingEntity, productCode: string): Promise<Onboarded> {
    if (row.applicationId !== null) return this.read(row);
    if (row.merchantId !== null) return this.read(row, row.initiates === 0 ? 'without-company' : null);
    if (row.initiates > 0 && row.status === 'requested') throw refusalProblem(REFUSALS.begun);
    const sent = await this.merchants.create(row.reference);
    if (!sent.ok && sent.kind === 'refused') await this.rows.change(row, { status: 'refused' });
    const created = answeredOrThrow(sent);
    const isNew = created.kind === 'created';
    const merchantId = isNew ? created.merchant.id : created.existingMerchantId;
    const product = productCode === '' ? {} : { productCode };
    const begun = await this.rows.change(row, { merchantId, status: 'requested', ...product });
    return this.read(begun, 'without-company', isNew);
  }

  /** Sends one step of a known merchant. A value of null: the step was done before, so a read shows the application. */
  private async send(
    reference: string,
    request: (merchantId: string) => Promise<Outcome<Application | null>>,
  ): Promise<Onboarded> {
    await this.known(reference);
    return this.alone(reference, async (known) => {
      const row = await this.locate(known);
      if (row.merchantId === null) throw refusalProblem(REFUSALS.notListed);
      const sent = await request(row.merchantId);
      if (sent.ok && sent.value !== null) return this.store(row, sent.value);
      if (sent.ok) return this.read(row);
      await this.read(row).catch(ignoreProblem); // the application's status may forbid this step: show that status
      throw morProblem(sent);
    });
  }

  /** Reads the application. Until it exists, the row stays as it is. */
  private async read(before: OnboardingEntity, notice: Notice | null = null, made = false): Promise<Onboarded> {
    const row = await this.locate(before);
    if (row.merchantId === null) return { row, made, notice };
    const read = await this.applications.read(row.merchantId);
    if (!read.ok && read.status === 404 && read.code === 'not_found') return { row, made, notice };
    return this.store(row, answeredOrThrow(read), notice, made);
  }

  private async store(
    row: OnboardingEntity,
    { product, currentlyDue: due, merchantId: _, ...application }: Application,
    notice: Notice | null = null,
    made = false,
  ): Promise<Onboarded> {
    const change = {
      ...application,
      due,
      productCode: product?.code ?? row.productCode,
      regions: product?.regions ?? [],
      readAt: this.clock.now(),
      pollInMs: isPolled(application.status) ? ONBOARDING_POLL_EVERY_MS : null,
    };
    return { row: await this.rows.change(row, change, { ifUnchanged: true }), made, notice };
  }

  /** Returns the row with the merchant's id. The id is null while the MoR does not list the merchant. */
  private async locate(row: OnboardingEntity): Promise<OnboardingEntity> {
    if (row.merchantId !== null) return row;
    const merchantId = await this.findId(row.reference);
    return merchantId === null ? row : this.rows.change(row, { merchantId });
  }

  private async findId(reference: string): Promise<string | null> {
    const listed = answeredOrThrow(await this.merchants.list());
    return listed.find((merchant) => merchant.reference === reference)?.id ?? null;
  }

  /** Finds the row. Takes over a merchant known only to the MoR, for example after a restore of our database. */
  private async known(reference: string): Promise<OnboardingEntity> {
    const row = await this.rows.find(reference);
    if (row !== null) return row;
    const merchantId = await this.findId(reference);
    if (merchantId !== null) await this.rows.create({ reference, productCode: '', merchantId, existing: true }, 'mor');
    const adopted = await this.rows.find(reference);
    if (adopted === null) throw notFound('merchant');
    return adopted;
  }

  /** Sends one request at a time for a merchant. The lock of a dead process expires. */
  private async alone(reference: string, work: (row: OnboardingEntity) => Promise<Onboarded>): Promise<Onboarded> {
    while (!(await this.rows.claim(reference, ONBOARDING_BUSY_MS))) await this.clock.sleep(BUSY_POLL_EVERY_MS);
    try {
      return await work(await this.known(reference));
    } finally {
      await this.rows.release(reference);
    }
  }
}

/** Does without a read that the MoR refused or did not answer. */
function ignoreProblem(error: unknown): null {
  if (error instanceof Problem) return null;
  throw error;
}
