// Document 1 as one plug-in: the partner routes, and the control route that plays the reviewer.
import { type Reply, type SandboxRequest } from '../../kernel/http.js';
import { Fields as ControlFields, type FieldError } from '../../kernel/json.js';
import { type Kernel } from '../../kernel/kernel.js';
import { Fields } from '../fields.js';
import { isUnreadable } from '../merchant-routes.js';
import { notFound, refuse } from '../refusal.js';
import { type Account, type MorState } from '../state.js';
import { type Application, EXTERNAL_STATUS, type RawStatus, showApplication } from './application.js';
import { type PartnerMerchant, PartnerMerchants, unreadable } from './merchants.js';
import { makeRegions } from './regions.js';

type PartnerCall = { readonly request: SandboxRequest; readonly partner: Account; readonly body: unknown };

/**
 * A merchant as Document 1 shows it: only id and reference before an application. Leaves out fields the partner never
 * sent.
 */
function showMerchant({ id, reference, company, application }: PartnerMerchant): Record<string, unknown> {
  if (application === null) return { id, reference };
  const { businessDescription, storeUrls } = application;
  return {
    id,
    reference,
    company,
    ...(businessDescription === undefined ? {} : { businessDescription }),
    ...(storeUrls === undefined ? {} : { storeUrls }),
  };
}

function existingApplication(merchant: PartnerMerchant): Application {
  if (merchant.application === null) throw notFound();
  return merchant.application;
}

/** Adds every route of Document 1. */
export function addPartnerApi(kernel: Kernel, mor: MorState): void {
  const merchants = new PartnerMerchants(kernel);
  const regions = makeRegions(kernel.random);
  const partnerIds = { main: kernel.random.uuid(), other: kernel.random.uuid() };

  const route = (method: string, path: string, handler: (call: PartnerCall) => Reply): void =>
    kernel.mor.add(method, `/partner/api${path}`, (request) => {
      const partner = mor.requirePartner(request);
      if (isUnreadable(request)) {
        if (path === '/onboarding/initiate') throw unreadable();
        throw refuse(400, 'validation_error', 'body', 'must be JSON, sent as application/json');
      }
      return handler({ request, partner, body: request.body });
    });
  const scoped = (method: string, path: string, handler: (merchant: PartnerMerchant, body: unknown) => Reply): void =>
    route(method, `/merchants/:merchantId${path}`, ({ request, partner, body }) =>
      handler(merchants.find(partner, request.params['merchantId'] ?? ''), body),
    );

  route('GET', '/whoami', ({ partner }) => ({
    status: 200,
    body: { partnerId: partnerIds[partner], name: partner === 'main' ? 'Sandbox Partner' : 'Another Partner' },
  }));
  route('GET', '/regions', () => ({ status: 200, body: regions }));
  route('POST', '/onboarding/initiate', ({ partner, body }) => {
    const { application, existing } = merchants.initiate(partner, body);
    const { id, status, mode } = application;
    const onboardingUrl = `${mor.baseUrl}/onboarding/${id}`;
    const isExisting = existing ? { isExistingApplication: true } : {};
    return { status: 200, body: { applicationId: id, status, mode, ...isExisting, onboardingUrl } };
  });
  route('GET', '/merchants', ({ partner }) => ({
    status: 200,
    body: merchants.ofPartner(partner).map(({ id, reference }) => ({ id, reference })),
  }));
  route('POST', '/merchants', ({ partner, body }) => {
    const { id, reference } = merchants.create(partner, body);
    return { status: 201, body: { id, reference } };
  });
  scoped('GET', '', (merchant) => ({ status: 200, body: showMerchant(merchant) }));
  scoped('GET', '/application', (merchant) => ({
    status: 200,
    body: showApplication(merchant.id, existingApplication(merchant)),
  }));
  scoped('PUT', '/application', (merchant, body) => {
    const { application, created } = merchants.putProducts(merchant, body);
    return { status: created ? 201 : 200, body: showApplication(merchant.id, application) };
  });
  scoped('PATCH', '/application', (merchant, body) => {
    const application = existingApplication(merchant);
    merchants.describe(application, body);
    return { status: 200, body: showApplication(merchant.id, application) };
  });
  scoped('POST', '/application/submit', (merchant) => {
    const application = existingApplication(merchant);
    merchants.submit(application);
    return { status: 200, body: showApplication(merchant.id, application) };
  });
  addReviewer(kernel, merchants);
}

const OUTCOMES = {
  approved: 'APPROVED',
  changes_requested: 'CHANGES_REQUESTED',
  rejected: 'REJECTED',
} as const satisfies Record<string, RawStatus>;

function rawStatusOf(outcome: string): RawStatus {
  const entry = Object.entries(OUTCOMES).find(([name, raw]) => name === outcome || raw === outcome);
  if (entry !== undefined) return entry[1];
  if (outcome === 'SIGNED_BY_MERCHANT' || outcome === 'SIGNED_BY_OUTPOST_PLACEHOLDER') return outcome;
  return new ControlFields({}).refuse('outcome', `must be one of ${Object.keys(OUTCOMES).join(', ')}`);
}

function commentsOf(body: unknown): readonly FieldError[] {
  const fields = Fields.of(body);
  const comments = fields
    .optionalObjects('errors')
    .map((one) => ({ field: one.text('field'), message: one.text('message') }));
  fields.problems.throwAs('invalid_request');
  return comments;
}

/**
 * Plays the reviewer. The path takes the merchant's id or the partner's reference. For a signing step, `outcome` is the
 * internal status.
 */
function addReviewer(kernel: Kernel, merchants: PartnerMerchants): void {
  const about =
    'a person reviews: {outcome: approved|changes_requested|rejected, message?, errors?: [{field, message}]}';
  kernel.control('POST', '/_sandbox/applications/:merchantId/review', about, (request) => {
    const fields = new ControlFields(request.body);
    const status = rawStatusOf(fields.string('outcome'));
    const merchant = merchants.findAny(request.params['merchantId'] ?? '');
    const application = existingApplication(merchant);
    merchants.review(application, status, fields.optionalString('message'), commentsOf(request.body));
    const internal = { internal_status: status, external_status: EXTERNAL_STATUS[status] };
    return { status: 200, body: { ...showApplication(merchant.id, application), ...internal } };
  });
}
