// Document 1: a merchant's application for one product, from the choice of regions to the review.
import { type Outcome, type WireRequest } from './outcome.js';
import { Fields, parseText } from './read.js';
import { type DescribeBusinessRequest, type ProductChoice } from './requests/onboarding.js';
import { type MorTransport } from './transport.js';
import { segment, wireGet, wireWith } from './wire.js';

export type Application = {
  readonly merchantId: string;
  /** `created`, `submitted`, `changes_requested`, `approved`, `rejected` (Document 1), or another word of the MoR. */
  readonly status: string;
  /** The chosen product. Null before the choice. */
  readonly product: { readonly code: string; readonly regions: readonly string[] } | null;
  /** The keys of the requirements still open before submit. */
  readonly currentlyDue: readonly string[];
  /** The reviewer's comments. `field` is a label for people, not a key. */
  readonly comments: readonly { readonly field: string; readonly message: string }[];
  readonly reviewMessage: string | null;
  readonly submittedAt: Date | null;
  readonly reviewedAt: Date | null;
};

export type Submitted =
  | { readonly kind: 'submitted'; readonly application: Application }
  /** 409 `invalid_status`: the application was submitted before, and perhaps reviewed. `read` shows its status. */
  | { readonly kind: 'already_submitted' };

function parseProduct(value: unknown, path: string): { code: string; regions: readonly string[] } {
  const fields = new Fields(value, path);
  return { code: fields.text('code'), regions: fields.listOrEmpty('regions', parseText) };
}

function parseComment(value: unknown, path: string): { field: string; message: string } {
  const fields = new Fields(value, path);
  return { field: fields.textOrNull('field') ?? '', message: fields.textOrNull('message') ?? '' };
}

export function parseApplication(value: unknown): Application {
  const fields = new Fields(value);
  const requirements = fields.may('requirements', (inner, at) => new Fields(inner, at));
  return {
    merchantId: fields.id('merchantId'),
    status: fields.id('status'),
    product: fields.listOrEmpty('products', parseProduct)[0] ?? null,
    currentlyDue: requirements?.listOrEmpty('currentlyDue', parseText) ?? [],
    comments: requirements?.listOrEmpty('errors', parseComment) ?? [],
    reviewMessage: fields.textOrNull('reviewMessage'),
    submittedAt: fields.timeOrNull('submittedAt'),
    reviewedAt: fields.timeOrNull('reviewedAt'),
  };
}

function pathOf(merchantId: string): string {
  return `/partner/api/merchants/${segment(merchantId)}/application`;
}

/** After the first call the MoR accepts only the same product code. These regions replace all earlier ones. */
export function encodeChooseProduct(merchantId: string, product: ProductChoice): WireRequest {
  return wireWith('PUT', pathOf(merchantId), { products: [{ code: product.code, regions: product.regions }] });
}

/** A field missing in the request keeps its value at the MoR. */
export function encodeDescribeBusiness(merchantId: string, request: DescribeBusinessRequest): WireRequest {
  return wireWith('PATCH', pathOf(merchantId), request);
}

export function encodeSubmit(merchantId: string): WireRequest {
  return wireWith('POST', `${pathOf(merchantId)}/submit`, null);
}

export class Applications {
  constructor(private readonly transport: MorTransport) {}

  /** Until an application exists, the MoR answers 404 (`refused`). */
  read(merchantId: string): Promise<Outcome<Application>> {
    return this.#call('application.read', wireGet(pathOf(merchantId)));
  }

  chooseProduct(merchantId: string, product: ProductChoice): Promise<Outcome<Application>> {
    return this.sendChooseProduct(encodeChooseProduct(merchantId, product));
  }

  describeBusiness(merchantId: string, request: DescribeBusinessRequest): Promise<Outcome<Application>> {
    return this.sendDescribeBusiness(encodeDescribeBusiness(merchantId, request));
  }

  submit(merchantId: string): Promise<Outcome<Submitted>> {
    return this.sendSubmit(encodeSubmit(merchantId));
  }

  /** Sends the choice of a product. Safe to repeat: it replaces the earlier choice. */
  sendChooseProduct(wire: WireRequest): Promise<Outcome<Application>> {
    return this.#call('application.put', wire);
  }

  /** Safe to repeat: the request only sets values. */
  sendDescribeBusiness(wire: WireRequest): Promise<Outcome<Application>> {
    return this.#call('application.patch', wire);
  }

  /** Not idempotent at the MoR: a second call returns `already_submitted`. */
  sendSubmit(wire: WireRequest): Promise<Outcome<Submitted>> {
    return this.transport.call<Submitted>(wire, {
      name: 'application.submit',
      as: 'partner',
      accept: ({ body }) => ({ kind: 'submitted', application: parseApplication(body) }),
      acceptError: ({ status }, code) =>
        status === 409 && code === 'invalid_status' ? { kind: 'already_submitted' } : null,
    });
  }

  #call(name: 'application.read' | 'application.put' | 'application.patch', wire: WireRequest) {
    return this.transport.call(wire, { name, as: 'partner', accept: ({ body }) => parseApplication(body) });
  }
}
