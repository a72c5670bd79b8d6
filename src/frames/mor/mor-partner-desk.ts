// Onboarding (Document 1): the partner's requests to the MoR, and the state of each merchant's application.
import {
  type Application,
  Applications,
  bareMerchantRequest,
  type Checked,
  describeBusinessRequest,
  encodeDescribeBusiness,
  encodeInitiate,
  type Initiated,
  initiateRequest,
  PartnerApi,
  PartnerMerchants,
  type ProductChoice,
  productChoice,
  type Region,
} from '@crossbill/mor';
import { Injectable } from '@nestjs/common';
import { type CallOutcome } from '../../shared/domain/ports/call.js';
import { type MerchantFacts } from '../../shared/domain/onboarding.js';

/** A checked request to begin an onboarding. */
export type InitiateFacts = {
  readonly merchantReference: string;
  readonly productCode: string;
  /** The request as JSON text with a fixed order: the same request gives the same text. */
  readonly text: string;
};

/** A merchant without company details. */
export type BareMerchantFacts = {
  readonly merchantReference: string;
  /** The product at the MoR. Empty: somebody chooses the product later. */
  readonly productCode: string;
};

@Injectable()
export class PartnerDesk {
  constructor(
    private readonly partner: PartnerApi,
    private readonly known: PartnerMerchants,
    private readonly applications: Applications,
  ) {}

  /** False: there are no partner credentials, so nothing of Document 1 is available. */
  get enabled(): boolean {
    return this.partner.enabled;
  }

  checkInitiate(body: unknown): Checked<InitiateFacts> {
    const checked = initiateRequest.check(body);
    if (!checked.ok) return checked;
    const { merchantReference, productCode } = checked.value;
    const text = encodeInitiate(checked.value).body ?? '';
    return { ok: true, value: { merchantReference, productCode, text } };
  }

  /** Checks a request for a merchant without company details. Null: the request is not of this kind. */
  checkBareMerchant(body: unknown): Checked<BareMerchantFacts> | null {
    if (typeof body !== 'object' || body === null || !('withoutCompany' in body)) return null;
    const checked = bareMerchantRequest.check(body);
    if (!checked.ok) return checked;
    const { merchantReference, productCode = '' } = checked.value;
    return { ok: true, value: { merchantReference, productCode } };
  }

  checkProduct(body: unknown): Checked<ProductChoice> {
    return productChoice.check(body);
  }

  /** Checks a description of the business. `value`: the checked request as JSON text. */
  checkBusiness(body: unknown): Checked<string> {
    const checked = describeBusinessRequest.check(body);
    if (!checked.ok) return checked;
    return { ok: true, value: encodeDescribeBusiness('checked', checked.value).body ?? '{}' };
  }

  regions(): Promise<CallOutcome<readonly Region[]>> {
    return this.partner.regions();
  }

  /** Returns the ids of all merchants, each under the merchant's reference. */
  async merchants(): Promise<CallOutcome<ReadonlyMap<string, string>>> {
    const listed = await this.known.list();
    return listed.ok ? { ...listed, value: new Map(listed.value.map(({ id, reference }) => [reference, id])) } : listed;
  }

  initiate(request: InitiateFacts): Promise<CallOutcome<Initiated>> {
    return this.partner.sendInitiate({ method: 'POST', path: '/partner/api/onboarding/initiate', body: request.text });
  }

  /**
   * Creates a merchant without company details. Nobody can add the details later. `existed`: the reference already had
   * a merchant.
   */
  async createMerchant(
    reference: string,
  ): Promise<CallOutcome<{ readonly merchantId: string; readonly existed: boolean }>> {
    const sent = await this.known.create(reference);
    if (!sent.ok) return sent;
    const { value } = sent;
    const made = value.kind === 'created';
    return { ...sent, value: { merchantId: made ? value.merchant.id : value.existingMerchantId, existed: !made } };
  }

  async readMerchant(merchantId: string): Promise<CallOutcome<MerchantFacts>> {
    const read = await this.known.read(merchantId);
    if (!read.ok) return read;
    const { company, businessDescription, storeUrls } = read.value;
    const isGiven = company !== null && [company.legalName, company.website, company.taxId].some((text) => text !== '');
    return { ...read, value: { company: isGiven ? company : null, businessDescription, storeUrls } };
  }

  /** Reads a merchant's application. Null: there is no application yet, or no such merchant (404). */
  async readApplication(merchantId: string): Promise<CallOutcome<Application | null>> {
    const read = await this.applications.read(merchantId);
    if (read.ok || read.status !== 404 || read.code !== 'not_found') return read;
    return { ok: true, value: null, status: 404, requestId: read.requestId };
  }

  chooseProduct(merchantId: string, product: ProductChoice): Promise<CallOutcome<Application>> {
    return this.applications.chooseProduct(merchantId, product);
  }

  describeBusiness(merchantId: string, checked: string): Promise<CallOutcome<Application>> {
    return this.applications.sendDescribeBusiness({ ...encodeDescribeBusiness(merchantId, {}), body: checked });
  }

  /** Submits the application. Null: it was already submitted (409 `invalid_status`). A read then shows its state. */
  async submit(merchantId: string): Promise<CallOutcome<Application | null>> {
    const sent = await this.applications.submit(merchantId);
    if (!sent.ok) return sent;
    return { ...sent, value: sent.value.kind === 'submitted' ? sent.value.application : null };
  }
}
