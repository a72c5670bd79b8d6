// One onboarding application of Document 1: its statuses, its open requirements, and the effect of each change and
// review. Pure.
import { type FieldError } from '../../kernel/json.js';

/**
 * The external status for each internal status. The reply to POST initiate has the internal status, and the replies of
 * the merchant-scoped endpoints have the external status.
 */
export const EXTERNAL_STATUS = {
  DRAFT: 'created',
  IN_REVIEW: 'submitted',
  CHANGES_REQUESTED: 'changes_requested',
  APPROVED: 'approved',
  SIGNED_BY_MERCHANT: 'approved',
  SIGNED_BY_OUTPOST_PLACEHOLDER: 'approved',
  REJECTED: 'rejected',
} as const;

export type RawStatus = keyof typeof EXTERNAL_STATUS;

export type Application = {
  readonly id: string;
  readonly mode: 'HOSTED' | 'API';
  status: RawStatus;
  /** The product code. The first call with a code sets it for good. */
  readonly code: string;
  regions: readonly string[];
  businessDescription: string | undefined;
  storeUrls: readonly string[] | undefined;
  category: string | undefined;
  /** Comments of the last review that are still open. */
  comments: readonly FieldError[];
  reviewMessage: string | undefined;
  submittedAt: string | undefined;
  reviewedAt: string | undefined;
};

export function newApplication(
  id: string,
  mode: Application['mode'],
  code: string,
  regions: readonly string[],
): Application {
  return {
    id,
    mode,
    status: 'DRAFT',
    code,
    regions,
    businessDescription: undefined,
    storeUrls: undefined,
    category: undefined,
    comments: [],
    reviewMessage: undefined,
    submittedAt: undefined,
    reviewedAt: undefined,
  };
}

/** True in `created` and `changes_requested`: only then a partner may write or submit. */
export function isWritable({ status }: Application): boolean {
  return status === 'DRAFT' || status === 'CHANGES_REQUESTED';
}

/**
 * Keys of the requirements still due before submit. Only `tor` has any (Document 1, "Requirement keys"). `products` is
 * never due, since a new application has its product.
 */
export function currentlyDue({ code, regions, businessDescription, storeUrls }: Application): readonly string[] {
  if (code !== 'tor') return [];
  const due: string[] = [];
  if (regions.length === 0) due.push('selectedRegions');
  if ((businessDescription ?? '').trim() === '') due.push('businessDescription');
  if ((storeUrls ?? []).length === 0) due.push('checkoutUrl');
  return due;
}

/** The names a comment may use for a field: the field, its requirement, its section. */
const CONCERNS = {
  businessDescription: ['businessDescription', 'BUSINESS_MODEL'],
  storeUrls: ['storeUrls', 'checkoutUrl', 'BUSINESS_MODEL', 'STORE_URLS'],
  category: ['category', 'BUSINESS_MODEL'],
  regions: ['regions', 'selectedRegions', 'products', 'products[0].regions', 'PRODUCTS', 'REGIONS'],
} as const;

/** Removes the comments on the `written` fields: the partner has given them another value. */
export function resolveComments(application: Application, written: readonly (keyof typeof CONCERNS)[]): void {
  const resolved: readonly string[] = written.flatMap((name) => [...CONCERNS[name]]);
  application.comments = application.comments.filter(({ field }) => !resolved.includes(field));
}

/** The application as the merchant-scoped endpoints show it: without unset fields, but always with `requirements`. */
export function showApplication(merchantId: string, application: Application): Record<string, unknown> {
  const { code, regions, status, reviewMessage, submittedAt, reviewedAt } = application;
  const due = currentlyDue(application);
  const commented = (status === 'CHANGES_REQUESTED' || status === 'REJECTED') && application.comments.length > 0;
  return {
    merchantId,
    status: EXTERNAL_STATUS[status],
    products: [{ code, regions }],
    requirements: {
      ...(due.length > 0 ? { currentlyDue: due } : {}),
      ...(commented ? { errors: application.comments } : {}),
    },
    ...(reviewMessage === undefined ? {} : { reviewMessage }),
    ...(submittedAt === undefined ? {} : { submittedAt }),
    ...(reviewedAt === undefined ? {} : { reviewedAt }),
  };
}
