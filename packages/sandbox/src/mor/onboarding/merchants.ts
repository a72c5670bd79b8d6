// The merchants of a partner, and the effect of each call of Document 1.
import { Refusal } from '../../kernel/http.js';
import { type FieldError } from '../../kernel/json.js';
import { type Kernel } from '../../kernel/kernel.js';
import { isUuid } from '../countries.js';
import { Fields } from '../fields.js';
import { notFound, refusal, refuse } from '../refusal.js';
import { type Account } from '../state.js';
import {
  type Application,
  type RawStatus,
  currentlyDue,
  isWritable,
  newApplication,
  resolveComments,
} from './application.js';
import { type Company, EMPTY_COMPANY, readCompany } from './company.js';

export type PartnerMerchant = {
  readonly id: string;
  readonly partner: Account;
  readonly reference: string;
  readonly company: Company;
  application: Application | null;
};

export class PartnerMerchants {
  private readonly all: PartnerMerchant[] = [];

  constructor(private readonly kernel: Kernel) {}

  ofPartner(partner: Account): readonly PartnerMerchant[] {
    return this.all.filter((merchant) => merchant.partner === partner);
  }

  /** Throws 404 for an unknown id, another partner's merchant, and an id that is no uuid. */
  find(partner: Account, id: string): PartnerMerchant {
    const found = isUuid(id) ? this.ofPartner(partner).find((merchant) => merchant.id === id.toLowerCase()) : undefined;
    if (found === undefined) throw notFound();
    return found;
  }

  /** Finds a merchant of any partner, for the control route. */
  findAny(id: string): PartnerMerchant {
    const found = this.all.find((merchant) => merchant.id === id || merchant.reference === id);
    if (found === undefined) throw notFound();
    return found;
  }

  private add(partner: Account, reference: string, company: Company): PartnerMerchant {
    const merchant: PartnerMerchant = { id: this.kernel.random.uuid(), partner, reference, company, application: null };
    this.all.push(merchant);
    return merchant;
  }

  /** POST /partner/api/merchants: creates a merchant. The company of this merchant stays empty for good. */
  create(partner: Account, body: unknown): PartnerMerchant {
    const fields = Fields.of(body);
    const reference = fields.text('reference');
    fields.problems.throwAs('validation_error');
    const existing = this.ofPartner(partner).find((merchant) => merchant.reference === reference);
    if (existing !== undefined) {
      // This error has no `errors` list (Document 1, Errors).
      throw new Refusal({ status: 409, body: { code: 'duplicate_reference', existingMerchantId: existing.id } });
    }
    return this.add(partner, reference, EMPTY_COMPANY);
  }

  /**
   * POST /partner/api/onboarding/initiate. A value of the wrong kind makes the body unreadable: 500. For a known
   * merchant the call ignores the company in the request. If this merchant has an application, the call returns it.
   */
  initiate(partner: Account, body: unknown): { application: Application; existing: boolean } {
    const fields = Fields.of(body);
    const reference = fields.text('merchantReference');
    const code = fields.text('productCode');
    if (!fields.has('mode')) fields.text('mode');
    const mode = fields.optionalWord('mode', ['HOSTED', 'API']) ?? 'API';
    const companyFields = fields.object('company');
    const company = companyFields === undefined ? EMPTY_COMPANY : readCompany(companyFields);
    readExtras(fields);
    if (fields.problems.list.some(({ field }) => field === 'body')) throw unreadable();
    fields.problems.throwAs('invalid_argument');

    const known = this.ofPartner(partner).find((merchant) => merchant.reference === reference);
    if (known !== undefined && known.application !== null) return { application: known.application, existing: true };
    const merchant = known ?? this.add(partner, reference, company);
    merchant.application = newApplication(this.kernel.random.uuid(), mode, code, []);
    return { application: merchant.application, existing: false };
  }

  /** PUT application. `created` is true if the merchant had no application before. */
  putProducts(merchant: PartnerMerchant, body: unknown): { application: Application; created: boolean } {
    const { application } = merchant;
    if (application !== null) requireWritable(application);
    const fields = Fields.of(body);
    const products = fields.optionalObjects('products');
    const [product] = products;
    if (product === undefined || products.length > 1) {
      if (fields.problems.list.length === 0) fields.problem('products', 'must have exactly one entry');
      fields.problems.throwAs('validation_error');
    }
    const code = product?.text('code') ?? '';
    const regions = product?.optionalTexts('regions') ?? [];
    if (regions.length === 0) product?.problem('regions', 'must have at least one entry');
    if (application !== null && code !== '' && application.code !== code) {
      product?.problem('code', `is fixed: ${application.code}`);
    }
    fields.problems.throwAs('validation_error');
    if (application === null) {
      merchant.application = newApplication(this.kernel.random.uuid(), 'API', code, regions);
      return { application: merchant.application, created: true };
    }
    if (JSON.stringify(application.regions) !== JSON.stringify(regions)) resolveComments(application, ['regions']);
    application.regions = regions;
    return { application, created: false };
  }

  /** PATCH application: an omitted field, or null, keeps its value. */
  describe(application: Application, body: unknown): void {
    requireWritable(application);
    const fields = Fields.of(body ?? {});
    const businessDescription = fields.optionalText('businessDescription');
    const storeUrls = fields.optionalTexts('storeUrls');
    const category = fields.optionalText('category');
    fields.problems.throwAs('validation_error');
    const differs = (before: unknown, after: unknown): boolean =>
      after !== undefined && JSON.stringify(before) !== JSON.stringify(after);
    if (differs(application.businessDescription, businessDescription)) {
      resolveComments(application, ['businessDescription']);
      application.businessDescription = businessDescription;
    }
    if (differs(application.storeUrls, storeUrls)) {
      resolveComments(application, ['storeUrls']);
      application.storeUrls = storeUrls;
    }
    if (differs(application.category, category)) {
      resolveComments(application, ['category']);
      application.category = category;
    }
  }

  /** POST submit. Throws 400 `incomplete_application` with each requirement still due. */
  submit(application: Application): void {
    requireWritable(application);
    const due = currentlyDue(application);
    if (due.length > 0) {
      const errors = due.map((field) => ({ field, message: 'is still due' }));
      throw refusal(400, 'incomplete_application', errors);
    }
    application.status = 'IN_REVIEW';
    application.submittedAt = this.kernel.clock.nowIso();
  }

  /**
   * Plays a person's review, for the control route. Throws 409 unless the application is submitted. An approved
   * application may still get the two signing statuses.
   */
  review(
    application: Application,
    status: RawStatus,
    message: string | undefined,
    comments: readonly FieldError[],
  ): void {
    const signing = application.status === 'APPROVED' || application.status === 'SIGNED_BY_MERCHANT';
    if (application.status !== 'IN_REVIEW' && !(signing && status.startsWith('SIGNED_BY_'))) throw wrongStatus();
    application.status = status;
    application.reviewMessage = message;
    application.comments = comments;
    application.reviewedAt = this.kernel.clock.nowIso();
  }
}

function readExtras(fields: Fields): void {
  fields.optionalText('returnUrl');
  const summary = fields.optionalObject('complianceSummary');
  for (const name of ['verificationStatus', 'riskLevel', 'countryOfIncorporation']) summary?.optionalText(name);
  summary?.optionalFlag('hasOpenComplianceFlags');
  fields.optionalObject('merchantContext')?.requireTexts();
}

function wrongStatus(): Refusal {
  return refuse(409, 'invalid_status', 'status', 'the application cannot be changed now');
}

function requireWritable(application: Application): void {
  if (!isWritable(application)) throw wrongStatus();
}

/** The reply of POST initiate to an unreadable body, every time (Document 1, initiate, rule 3). */
export function unreadable(): Refusal {
  return refusal(500, 'internal_error', []);
}
