// A merchant's onboarding in the API's form.
import { type Company } from '@crossbill/mor';
import {
  Example,
  Flag,
  Many,
  Part,
  PartOrNull,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeOrNull,
} from '../../frames/api/http/docs.js';
import { type OnboardingEntity } from './onboarding.entity.js';
import { nextStep, type Notice, NOTICES } from './words.js';

class RegionView {
  @Example('id_123') @Text('Differs by environment: look it up each time.') id!: string;
  @Example('Europe') @Text() name!: string;
  @Example('EU') @Text('For example `EU`, `GB`; not unique.') flagCode!: string;
  @TextIfAny('ISO 3166-1 alpha-2; left out for a region of several countries.') countryCode?: string;
  @Flag('The product `tor` can be had there.') taxSupported!: boolean;
  @Flag('The product `mor` can be had there.') morSupported!: boolean;
}

export class RegionsView {
  @Many(RegionView) data!: readonly RegionView[];
}

class CommentView {
  @Example('company.website') @Text('A label to show: a field or a section.') field!: string;
  @Example('The address does not answer.') @Text() message!: string;
}

class ProductView {
  @Text() code!: string;
  @Many(String) regions!: readonly string[];
}

class AddressView {
  @Text() line1!: string;
  @Text() line2!: string;
  @Text() city!: string;
  @Text() state!: string;
  @Text() postalCode!: string;
  @Text() country!: string;
}

/** The company under Document 1's names. A missing text is empty. */
class CompanyView implements Company {
  @Text() legalName!: string;
  @Text() tradingName!: string;
  @Text() website!: string;
  @Text() taxId!: string;
  @Text() registrationNumber!: string;
  @Text('ISO 3166-1 alpha-2.') jurisdiction!: string;
  @Text() gmvTier!: string;
  @Part(AddressView) registeredAddress!: AddressView;
}

export class OnboardingView {
  @Example('shop-1') @Text('Your own name for the merchant.') reference!: string;
  @TextOrNull('Null until the MoR lists it.') merchant_id!: string | null;
  @TextOrNull() application_id!: string | null;
  @Example('submitted')
  @Text(
    '`requested`, `refused`, `created`, `submitted`, `changes_requested`, `approved`, `rejected`, or another word of the MoR, never final.',
  )
  status!: string;
  @Example([])
  @Many(String, 'Keys of the requirements to meet before you can submit it.')
  due!: readonly string[];
  @Many(CommentView, 'The reviewer’s comments.') errors!: readonly CommentView[];
  @TextOrNull() review_message!: string | null;
  @PartOrNull(ProductView) product!: ProductView | null;
  @PartOrNull(CompanyView, 'As Crossbill last read it from the MoR; null: never given, or not read yet.')
  company!: CompanyView | null;
  @TextOrNull('As `company`.') business_description!: string | null;
  @Many(String, 'As `company`.') store_urls!: readonly string[];
  @TimeOrNull() submitted_at!: string | null;
  @TimeOrNull() reviewed_at!: string | null;
  @Example('Wait for the review.') @Text('What comes next, in one sentence.') next!: string;
  @Flag('The MoR already had an application for this reference before our request.') existing_application!: boolean;
  @Flag('Crossbill or the MoR discarded the company details of a request.') company_discarded!: boolean;
  @TextIfAny('What a person should know about this request.') notice?: string;
  @Time() created_at!: string;
}

export function onboardingView(row: OnboardingEntity, notice: Notice | null = null): OnboardingView {
  const discarded = notice === 'discarded';
  return {
    reference: row.reference,
    merchant_id: row.merchantId,
    application_id: row.applicationId,
    status: row.status,
    due: row.due,
    errors: row.comments,
    review_message: row.reviewMessage,
    product: row.productCode === '' ? null : { code: row.productCode, regions: row.regions },
    company: row.merchant?.company ?? null,
    business_description: row.merchant?.businessDescription ?? null,
    store_urls: row.merchant?.storeUrls ?? [],
    submitted_at: row.submittedAt?.toISOString() ?? null,
    reviewed_at: row.reviewedAt?.toISOString() ?? null,
    next: nextStep(row),
    existing_application: row.existing || discarded,
    company_discarded: row.companyDiscarded || discarded,
    ...(notice === null ? {} : { notice: NOTICES[notice] }),
    created_at: row.createdAt.toISOString(),
  };
}
