// Document 1: the partner, the existing regions, and the start of an onboarding.
import { type Outcome, type WireRequest } from './outcome.js';
import { Fields, parseListOf } from './read.js';
import { type InitiateRequest } from './requests/onboarding.js';
import { type MorTransport } from './transport.js';
import { wireGet, wireWith } from './wire.js';

export type Partner = { readonly partnerId: string; readonly name: string };

export type Region = {
  readonly id: string;
  readonly name: string;
  readonly flagCode: string;
  /** The country of the region. Null for a region of several countries. */
  readonly countryCode: string | null;
  readonly taxSupported: boolean;
  readonly morSupported: boolean;
};

export const applicationStatuses = ['created', 'submitted', 'changes_requested', 'approved', 'rejected'] as const;
export type ApplicationStatus = (typeof applicationStatuses)[number];

/** The answer to `sendInitiate`. It has no merchant id: find the merchant in the list by the merchant's reference. */
export type Initiated = {
  readonly applicationId: string;
  /** The MoR's internal status, unchanged, for example `DRAFT`. */
  readonly rawStatus: string;
  /** The status in the words of all other endpoints. Null: Document 1 does not list the internal status. */
  readonly status: ApplicationStatus | null;
  readonly mode: string;
  /** True: the application already existed, and the MoR discarded the company details of this request (rule 1). */
  readonly isExistingApplication: boolean;
};

export function parsePartner(value: unknown): Partner {
  const fields = new Fields(value);
  return { partnerId: fields.id('partnerId'), name: fields.textOrNull('name') ?? '' };
}

export function parseRegion(value: unknown, path = ''): Region {
  const fields = new Fields(value, path);
  return {
    id: fields.id('id'),
    name: fields.textOrNull('name') ?? '',
    flagCode: fields.textOrNull('flagCode') ?? '',
    countryCode: fields.textOrNull('countryCode'),
    taxSupported: fields.flag('taxSupported'),
    morSupported: fields.flag('morSupported'),
  };
}

/**
 * Turns the MoR's internal status (`sendInitiate`, hosted onboarding) into the words of the other endpoints. Every
 * `SIGNED_BY_…` counts as approved: Document 1 says so for the merchant's signature and for the MoR's own step. Null:
 * Document 1 does not list the status.
 */
export function statusFromRaw(raw: string): ApplicationStatus | null {
  if (raw.startsWith('SIGNED_BY_')) return 'approved';
  switch (raw) {
    case 'DRAFT':
      return 'created';
    case 'IN_REVIEW':
      return 'submitted';
    case 'CHANGES_REQUESTED':
      return 'changes_requested';
    case 'APPROVED':
      return 'approved';
    case 'REJECTED':
      return 'rejected';
    default:
      return null;
  }
}

export function parseInitiated(value: unknown): Initiated {
  const fields = new Fields(value);
  const rawStatus = fields.id('status');
  return {
    applicationId: fields.id('applicationId'),
    rawStatus,
    status: statusFromRaw(rawStatus),
    mode: fields.textOrNull('mode') ?? 'API',
    isExistingApplication: fields.flag('isExistingApplication'),
  };
}

/** The mode is always `API`: the merchant never sees a hosted page. */
export function encodeInitiate(request: InitiateRequest): WireRequest {
  return wireWith('POST', '/partner/api/onboarding/initiate', { ...request, mode: 'API' });
}

export class PartnerApi {
  constructor(private readonly transport: MorTransport) {}

  /** False: no partner credentials are configured. Every call of Document 1 would end `stopped`. */
  get enabled(): boolean {
    return this.transport.hasPartner;
  }

  whoami(): Promise<Outcome<Partner>> {
    return this.transport.call(wireGet('/partner/api/whoami'), {
      name: 'partner.whoami',
      as: 'partner',
      accept: ({ body }) => parsePartner(body),
    });
  }

  regions(): Promise<Outcome<readonly Region[]>> {
    return this.transport.call(wireGet('/partner/api/regions'), {
      name: 'partner.regions',
      as: 'partner',
      accept: ({ body }) => parseListOf(body, 'regions', parseRegion),
    });
  }

  initiate(request: InitiateRequest): Promise<Outcome<Initiated>> {
    return this.sendInitiate(encodeInitiate(request));
  }

  /** Safe to repeat: the merchant reference is the key (Document 1, rule 1). */
  sendInitiate(wire: WireRequest): Promise<Outcome<Initiated>> {
    return this.transport.call(wire, {
      name: 'onboarding.initiate',
      as: 'partner',
      accept: ({ body }) => parseInitiated(body),
    });
  }
}
