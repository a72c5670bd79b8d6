// Document 1: the partner's merchants.
import { type Outcome, type WireRequest } from './outcome.js';
import { Fields, parseListOf, parseText } from './read.js';
import { type MorReply, type MorTransport } from './transport.js';
import { segment, wireGet, wireWith } from './wire.js';

const PATH = '/partner/api/merchants';

export type MerchantListItem = { readonly id: string; readonly reference: string };

/** The details of a company. A text the MoR left out is ''. */
export type Company = {
  readonly legalName: string;
  readonly tradingName: string;
  readonly website: string;
  readonly taxId: string;
  readonly registrationNumber: string;
  readonly jurisdiction: string;
  readonly gmvTier: string;
  readonly registeredAddress: {
    readonly line1: string;
    readonly line2: string;
    readonly city: string;
    readonly state: string;
    readonly postalCode: string;
    readonly country: string;
  };
};

/** Before an application exists, company and description are missing. */
export type MerchantDetail = MerchantListItem & {
  readonly company: Company | null;
  readonly businessDescription: string | null;
  readonly storeUrls: readonly string[];
};

export type MerchantCreated =
  | { readonly kind: 'created'; readonly merchant: MerchantListItem }
  /** 409 `duplicate_reference`: continue the onboarding with this merchant. */
  | { readonly kind: 'exists'; readonly existingMerchantId: string };

export function parseMerchantListItem(value: unknown, path = ''): MerchantListItem {
  const fields = new Fields(value, path);
  return { id: fields.id('id'), reference: fields.text('reference') };
}

function parseCompany(value: unknown, path: string): Company {
  const fields = new Fields(value, path);
  const address = fields.may('registeredAddress', (inner, at) => new Fields(inner, at));
  const text = (name: string): string => fields.textOrNull(name) ?? '';
  const part = (name: string): string => address?.textOrNull(name) ?? '';
  return {
    legalName: text('legalName'),
    tradingName: text('tradingName'),
    website: text('website'),
    taxId: text('taxId'),
    registrationNumber: text('registrationNumber'),
    jurisdiction: text('jurisdiction'),
    gmvTier: text('gmvTier'),
    registeredAddress: {
      line1: part('line1'),
      line2: part('line2'),
      city: part('city'),
      state: part('state'),
      postalCode: part('postalCode'),
      country: part('country'),
    },
  };
}

export function parseMerchantDetail(value: unknown): MerchantDetail {
  const fields = new Fields(value);
  return {
    ...parseMerchantListItem(value),
    company: fields.may('company', parseCompany),
    businessDescription: fields.textOrNull('businessDescription'),
    storeUrls: fields.listOrEmpty('storeUrls', parseText),
  };
}

/** Creates a merchant without company details. Nobody can add them later (Document 1, "What the service does", 6). */
export function encodeCreateMerchant(reference: string): WireRequest {
  return wireWith('POST', PATH, { reference });
}

function existing({ status, body }: MorReply, code: string | null): MerchantCreated | null {
  if (status !== 409 || code !== 'duplicate_reference') return null;
  return { kind: 'exists', existingMerchantId: new Fields(body, '').id('existingMerchantId') };
}

export class PartnerMerchants {
  constructor(private readonly transport: MorTransport) {}

  /** The whole list: the MoR offers no pages and no filter. */
  list(): Promise<Outcome<readonly MerchantListItem[]>> {
    return this.transport.call(wireGet(PATH), {
      name: 'merchant.list',
      as: 'partner',
      accept: ({ body }) => parseListOf(body, 'merchants', parseMerchantListItem),
    });
  }

  create(reference: string): Promise<Outcome<MerchantCreated>> {
    return this.sendCreate(encodeCreateMerchant(reference));
  }

  /** Safe to repeat: a second try returns `exists` with the same merchant. */
  sendCreate(wire: WireRequest): Promise<Outcome<MerchantCreated>> {
    return this.transport.call<MerchantCreated>(wire, {
      name: 'merchant.create',
      as: 'partner',
      accept: ({ body }) => ({ kind: 'created', merchant: parseMerchantListItem(body) }),
      acceptError: existing,
    });
  }

  read(merchantId: string): Promise<Outcome<MerchantDetail>> {
    return this.transport.call(wireGet(`${PATH}/${segment(merchantId)}`), {
      name: 'merchant.read',
      as: 'partner',
      accept: ({ body }) => parseMerchantDetail(body),
    });
  }
}
