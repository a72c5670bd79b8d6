// Onboards merchants at the MoR (Document 1). Sends each step, and stores the reply. Every step is safe to repeat.
import { type Application, type Checked, type Region } from '@crossbill/mor';
import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import {
  begunWithCompany,
  inShadow,
  malformed,
  mor,
  notConfigured,
  notListed,
  type OnboardingFailed,
  rejectedForGood,
  unknownMerchant,
} from './rules/refusals.js';
import { isFinal, isPolled } from './rules/status.js';
import { ONBOARDING, type OnboardingRow } from '../../shared/domain/onboarding.js';
import { newRow } from '../../shared/domain/row.js';
import { OnboardingStore } from './onboarding.store.js';
import { type BareMerchantFacts, type InitiateFacts, PartnerDesk } from '../../frames/mor/mor-partner-desk.js';
import { type Page, type PageRequest } from '../../shared/domain/page.js';
import { type CallOutcome } from '../../shared/domain/ports/call.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { type FlowSettings } from '../../shared/domain/settings.js';
import { FLOW_SETTINGS } from '../../engine/flow-context.js';
import { BUSY_LOOK_EVERY_MS, ONBOARDING_BUSY_MS, ONBOARDING_POLL_EVERY_MS } from '../../shared/policy.js';

export type Onboarded = {
  readonly row: OnboardingRow;
  /** True if this request began the onboarding. */
  readonly made: boolean;
  /** A hint for the person about this request. Null: nothing unusual. */
  readonly notice: string | null;
};

export type OnboardingDone<T = Onboarded> = { readonly ok: true; readonly value: T } | OnboardingFailed;

const POLLED_AT_ONCE = 50;

const WITHOUT_COMPANY =
  'This merchant has no company details, and the MoR takes none later. If the reviewer needs them, start again under another reference, with the details.';

export const DISCARDED =
  'An application already exists for this reference and stays as it is. The company details of this request are discarded: you can give them only once. For another product or company, use another reference.';

@Injectable()
export class OnboardingFlow {
  constructor(
    private readonly desk: PartnerDesk,
    private readonly rows: OnboardingStore,
    private readonly clock: Clock,
    /** `shadow`: true if Crossbill must change nothing at the MoR. */
    @Inject(FLOW_SETTINGS) private readonly settings: Pick<FlowSettings, 'shadow'> = { shadow: false },
  ) {}

  async regions(): Promise<OnboardingDone<readonly Region[]>> {
    if (!this.desk.enabled) return notConfigured();
    const found = await this.desk.regions();
    return found.ok ? { ok: true, value: found.value } : mor(found);
  }

  /** The merchants, newest first, from the database, without a request to the MoR. */
  async list(page: PageRequest): Promise<OnboardingDone<Page<OnboardingRow>>> {
    return this.desk.enabled ? { ok: true, value: await this.rows.list(page) } : notConfigured();
  }

  /**
   * Begins an application, or continues the application with this reference: sends initiate, finds the merchant's id,
   * reads the application. After a crash a repeat continues at the interrupted step and makes no second merchant.
   */
  async start(body: unknown, by: string): Promise<OnboardingDone> {
    if (!this.desk.enabled) return notConfigured();
    if (this.settings.shadow === true) return inShadow();
    const bare = this.desk.checkBareMerchant(body);
    if (bare !== null) return bare.ok ? this.startBare(bare.value, by) : malformed(bare);
    const checked = this.desk.checkInitiate(body);
    if (!checked.ok) return malformed(checked);
    const request = checked.value;
    const reference = request.merchantReference;
    await this.rows.create(this.newRow(reference, request.productCode, by));
    return this.alone(reference, async (row) => {
      const sha = createHash('sha256').update(request.text).digest('hex');
      if (row.applicationId !== null) {
        return this.refreshed(row, row.bodySha256 === sha ? null : DISCARDED);
      }
      const begun = await this.initiate(row, request, sha);
      return begun.ok
        ? this.refreshed(begun.value, begun.value.companyDiscarded ? DISCARDED : null, begun.made)
        : begun;
    });
  }

  /**
   * Begins a merchant without company details. Refuses if an application with details has no reply yet: its details
   * would be lost for good.
   */
  private async startBare(
    { merchantReference: reference, productCode }: BareMerchantFacts,
    by: string,
  ): Promise<OnboardingDone> {
    await this.rows.create(this.newRow(reference, productCode, by));
    return this.alone(reference, async (row) => {
      if (row.applicationId !== null) return this.refreshed(row, null);
      if (row.merchantId !== null) return this.refreshed(row, row.initiates === 0 ? WITHOUT_COMPANY : null);
      if (row.initiates > 0 && row.status === 'requested') return begunWithCompany();
      const sent = await this.desk.createMerchant(reference);
      if (!sent.ok) {
        if (sent.kind === 'refused') await this.rows.change(reference, { status: 'refused' });
        return mor(sent);
      }
      const { merchantId, existed } = sent.value;
      await this.rows.change(reference, {
        merchantId,
        status: 'requested',
        ...(productCode === '' ? {} : { productCode }),
      });
      return this.refreshed(await this.fresh(row), WITHOUT_COMPANY, !existed);
    });
  }

  /**
   * Reads the application and the merchant from the MoR. After approval or rejection, returns the stored application.
   */
  async status(reference: string): Promise<OnboardingDone> {
    if (!this.desk.enabled) return notConfigured();
    const row = (await this.rows.find(reference)) ?? (await this.adopt(reference));
    if (row === null) return unknownMerchant();
    if ('ok' in row) return row;
    const seen: OnboardingDone = isFinal(row.status)
      ? { ok: true, value: { row, made: false, notice: null } }
      : await this.refreshed(row, null);
    if (!seen.ok || seen.value.row.merchantId === null) return seen;
    if (isFinal(row.status) && row.merchant !== null) return seen;
    const read = await this.desk.readMerchant(seen.value.row.merchantId);
    if (!read.ok) return seen; // the application is known, so do without the merchant
    await this.rows.change(reference, { merchant: read.value });
    return { ok: true, value: { ...seen.value, row: { ...seen.value.row, merchant: read.value } } };
  }

  async chooseProduct(reference: string, body: unknown): Promise<OnboardingDone> {
    return this.step(reference, this.desk.checkProduct(body), (id, product) => this.desk.chooseProduct(id, product));
  }

  async describeBusiness(reference: string, body: unknown): Promise<OnboardingDone> {
    return this.step(reference, this.desk.checkBusiness(body), (id, text) => this.desk.describeBusiness(id, text));
  }

  /**
   * Submits an application. An application submitted before counts as success (Document 1, POST submit). Refuses a
   * rejected application.
   */
  async submit(reference: string): Promise<OnboardingDone> {
    const done = await this.step(reference, { ok: true, value: null }, (id) => this.desk.submit(id));
    return done.ok && done.value.row.status === 'rejected' ? rejectedForGood() : done;
  }

  /** Reads the merchants in review, each in one replica. Returns the number of reads. */
  async poll(): Promise<number> {
    if (!this.desk.enabled) return 0;
    const due = await this.rows.takeDue(POLLED_AT_ONCE, ONBOARDING_POLL_EVERY_MS);
    let read = 0;
    for (const row of due) {
      const done = await this.refreshed(row, null);
      if (done.ok) read++;
    }
    return read;
  }

  private async step<T>(
    reference: string,
    checked: Checked<T>,
    send: (merchantId: string, request: T) => Promise<CallOutcome<Application | null>>,
  ): Promise<OnboardingDone> {
    if (!this.desk.enabled) return notConfigured();
    if (this.settings.shadow === true) return inShadow();
    if (!checked.ok) return malformed(checked);
    const known = (await this.rows.find(reference)) ?? (await this.adopt(reference));
    if (known === null) return unknownMerchant();
    if ('ok' in known) return known;
    return this.alone(reference, async (row) => {
      const found = await this.lookUp(row);
      if (!found.ok) return found;
      const { merchantId } = found.value;
      if (merchantId === null) return notListed();
      const sent = await send(merchantId, checked.value);
      if (sent.ok && sent.value !== null) return this.take(found.value, sent.value, null, false);
      // The application was submitted before, or its status forbids a submit. Show the MoR's present state.
      const read = await this.refreshed(found.value, null);
      return sent.ok ? read : mor(sent);
    });
  }

  private async initiate(
    row: OnboardingRow,
    request: InitiateFacts,
    sha: string,
  ): Promise<{ readonly ok: true; readonly value: OnboardingRow; readonly made: boolean } | OnboardingFailed> {
    const { reference } = row;
    // True if an earlier try got no reply. That try may have begun the application at the MoR, even if our row has no
    // merchant id.
    const unanswered = row.initiates > 0 && row.status !== 'refused';
    const repeat = unanswered && row.bodySha256 === sha;
    await this.rows.change(reference, {
      initiates: row.initiates + 1,
      ...(unanswered ? {} : { bodySha256: sha, productCode: request.productCode }),
      ...(row.status === 'refused' ? { status: 'requested' as const } : {}),
    });
    const sent = await this.desk.initiate(request);
    if (sent.ok) {
      const { applicationId, isExistingApplication } = sent.value;
      // True if somebody else began the application: the MoR then keeps the earlier details and drops ours. If our
      // first try got no reply, a repeat finds our own application with our details.
      const foreign = isExistingApplication && !repeat;
      await this.rows.change(reference, { applicationId, existing: foreign && !unanswered, companyDiscarded: foreign });
      return {
        ok: true,
        value: await this.fresh(row),
        made: isExistingApplication ? repeat && row.merchantId === null : true,
      };
    }
    if (sent.kind === 'unknown') {
      // There was no reply. If the MoR's list has the merchant, the application has begun.
      const found = await this.lookUp(await this.fresh(row));
      if (found.ok && found.value.merchantId !== null)
        return { ok: true, value: found.value, made: row.merchantId === null };
    }
    if (sent.kind === 'refused' && !unanswered) await this.rows.change(reference, { status: 'refused' });
    // After an `internal_error` the MoR answers the same body with the same error (Document 1, initiate, rule 3). So
    // Crossbill tells its caller not to repeat the request.
    return mor(sent, sent.code !== 'internal_error');
  }

  /** Returns the row with the merchant's id. The id is null while the MoR does not list the merchant. */
  private async lookUp(
    row: OnboardingRow,
  ): Promise<{ readonly ok: true; readonly value: OnboardingRow } | OnboardingFailed> {
    if (row.merchantId !== null) return { ok: true, value: row };
    const listed = await this.desk.merchants();
    if (!listed.ok) return mor(listed);
    const merchantId = listed.value.get(row.reference);
    if (merchantId === undefined) return { ok: true, value: row };
    await this.rows.change(row.reference, { merchantId });
    return { ok: true, value: await this.fresh(row) };
  }

  private async refreshed(before: OnboardingRow, notice: string | null, made = false): Promise<OnboardingDone> {
    const found = await this.lookUp(before);
    if (!found.ok) return found;
    const row = found.value;
    if (row.merchantId === null) return { ok: true, value: { row, made, notice } };
    const read = await this.desk.readApplication(row.merchantId);
    if (!read.ok) return mor(read);
    if (read.value === null) return { ok: true, value: { row, made, notice } };
    return this.take(row, read.value, notice, made);
  }

  private async take(
    row: OnboardingRow,
    facts: Application,
    notice: string | null,
    made: boolean,
  ): Promise<OnboardingDone> {
    const { status, product, currentlyDue, comments, reviewMessage, submittedAt, reviewedAt } = facts;
    const change = {
      status,
      productCode: product?.code ?? row.productCode,
      regions: product?.regions ?? [],
      due: currentlyDue,
      comments,
      reviewMessage,
      submittedAt,
      reviewedAt,
      readAt: this.clock.now(),
      pollInMs: isPolled(status) ? ONBOARDING_POLL_EVERY_MS : null,
    };
    await this.rows.change(row.reference, change, row.updatedAt);
    return { ok: true, value: { row: await this.fresh(row), made, notice } };
  }

  /**
   * Takes over a merchant known only to the MoR, for example after a restore of our database. Null: the MoR does not
   * know the merchant.
   */
  private async adopt(reference: string): Promise<OnboardingRow | OnboardingFailed | null> {
    const listed = await this.desk.merchants();
    if (!listed.ok) return mor(listed);
    const merchantId = listed.value.get(reference);
    if (merchantId === undefined) return null;
    await this.rows.create({ ...this.newRow(reference, '', 'mor'), merchantId, existing: true });
    return this.rows.find(reference);
  }

  /** Sends one request at a time for a merchant. The lock of a dead process expires. */
  private async alone(
    reference: string,
    work: (row: OnboardingRow) => Promise<OnboardingDone>,
  ): Promise<OnboardingDone> {
    while (!(await this.rows.claim(reference, ONBOARDING_BUSY_MS))) {
      await this.clock.sleep(BUSY_LOOK_EVERY_MS);
    }
    try {
      const row = await this.rows.find(reference);
      return row === null ? unknownMerchant() : await work(row);
    } finally {
      await this.rows.release(reference);
    }
  }

  private async fresh(row: OnboardingRow): Promise<OnboardingRow> {
    return (await this.rows.find(row.reference)) ?? row;
  }

  private newRow(reference: string, productCode: string, createdBy: string): OnboardingRow {
    const now = this.clock.now();
    const given = { reference, productCode, status: 'requested', comments: [], createdBy };
    return newRow(ONBOARDING, { ...given, createdAt: now, updatedAt: now });
  }
}
