// Document 1, rule by rule, over HTTP: onboarding of merchants by a partner.
/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access -- answers are read loosely: what they hold is what is tested */
import { expect, it } from '@jest/globals';
import { type Mor, fieldsOf, morForAll } from './support.js';

const unknownId = '00000000-0000-4000-8000-000000000000';
const registeredAddress = { line1: '1 Main', city: 'Berlin', postalCode: '10115', country: 'DE' };
const company = {
  legalName: 'Shop GmbH',
  website: 'https://shop.example',
  taxId: 'DE1',
  registrationNumber: 'HRB 1',
  jurisdiction: 'DE',
  registeredAddress,
};
const initiate = { merchantReference: 'shop', productCode: 'tor', mode: 'API', company };
const product = (code: string, regions: unknown = ['EU']): unknown => ({ products: [{ code, regions }] });

let mor: Mor;
morForAll((started) => (mor = started));

/** A merchant with an application in the given status. */
async function merchantIn(reference: string, outcome?: string, review: object = {}): Promise<string> {
  await mor.call('POST', '/partner/api/onboarding/initiate', {
    ...initiate,
    merchantReference: reference,
    productCode: 'mor',
  });
  const list = await mor.call('GET', '/partner/api/merchants');
  const { id } = (list.body as { id: string; reference: string }[]).find((one) => one.reference === reference) ?? {
    id: '',
  };
  if (outcome === undefined) return id;
  await mor.call('POST', `/partner/api/merchants/${id}/application/submit`);
  if (outcome !== 'submitted') await mor.control(`/applications/${id}/review`, { outcome, ...review });
  return id;
}

it("the sandbox's MoR names the partner at its whoami route", async () => {
  const { body } = await mor.call('GET', '/partner/api/whoami');
  expect(Object.keys(body as object)).toEqual(['partnerId', 'name']);
});

it("the sandbox's MoR lists only regions with at least one product, and leaves out each region's unset fields", async () => {
  const { body } = await mor.call('GET', '/partner/api/regions');
  const regions = body as Record<string, unknown>[];
  const eu = regions.find((region) => region['name'] === 'European Union');
  expect(eu).toEqual({ id: expect.any(String), name: 'European Union', flagCode: 'EU', taxSupported: true });
  expect(regions.filter((region) => region['flagCode'] === 'GB').length).toBeGreaterThan(1);
  expect(regions.every((region) => region['taxSupported'] === true || region['morSupported'] === true)).toBe(true);
  expect(JSON.stringify(regions)).not.toContain('false');
});

it("at onboarding/initiate, the sandbox's MoR makes a merchant and an application, and answers the internal status DRAFT", async () => {
  const { status, body } = await mor.call('POST', '/partner/api/onboarding/initiate', initiate);
  expect(status).toBe(200);
  expect(body).toEqual({
    applicationId: expect.any(String),
    status: 'DRAFT',
    mode: 'API',
    onboardingUrl: expect.any(String),
  });
  const again = await mor.call('POST', '/partner/api/onboarding/initiate', {
    ...initiate,
    company: { ...company, legalName: 'Other' },
  });
  expect(again.body).toMatchObject({ applicationId: body.applicationId, isExistingApplication: true });
  const list = await mor.call('GET', '/partner/api/merchants');
  const detail = await mor.call('GET', `/partner/api/merchants/${list.body[0].id}`);
  expect(detail.body.company).toEqual({
    ...company,
    tradingName: '',
    gmvTier: '',
    registeredAddress: { ...registeredAddress, line2: '', state: '' },
  });
});

it("the sandbox's MoR starts an application in mode HOSTED, and keeps the mode if a second request names the mode API", async () => {
  const hosted = { ...initiate, merchantReference: 'hosted', mode: 'HOSTED', returnUrl: 'https://shop.example' };
  expect((await mor.call('POST', '/partner/api/onboarding/initiate', hosted)).body.mode).toBe('HOSTED');
  const again = await mor.call('POST', '/partner/api/onboarding/initiate', { ...hosted, mode: 'API' });
  expect(again.body).toMatchObject({ mode: 'HOSTED', status: 'DRAFT', isExistingApplication: true });
});

it("the sandbox's MoR approves an application for the product “tor” after the merchant answers all requirements and comments", async () => {
  const { id } = (await mor.call('GET', '/partner/api/merchants')).body[0];
  const path = `/partner/api/merchants/${id}/application`;
  const start = await mor.call('GET', path);
  expect(start.body.requirements.currentlyDue).toEqual(['selectedRegions', 'businessDescription', 'checkoutUrl']);
  const early = await mor.call('POST', `${path}/submit`);
  expect([early.status, early.body.code, fieldsOf(early)]).toEqual([
    400,
    'incomplete_application',
    ['selectedRegions', 'businessDescription', 'checkoutUrl'],
  ]);
  const put = await mor.call('PUT', path, product('tor', ['EU', 'GB']));
  expect([put.status, put.body.products]).toEqual([200, [{ code: 'tor', regions: ['EU', 'GB'] }]]);
  expect((await mor.call('PATCH', path, { businessDescription: '  ' })).body.requirements.currentlyDue).toEqual([
    'businessDescription',
    'checkoutUrl',
  ]);
  await mor.call('PATCH', path, { businessDescription: 'Software', category: 'SaaS' });
  const kept = await mor.call('PATCH', path, { businessDescription: null, storeUrls: ['https://shop.example'] });
  expect(kept.body.requirements).toEqual({});
  const detail = await mor.call('GET', `/partner/api/merchants/${id}`);
  expect(detail.body).toMatchObject({ businessDescription: 'Software', storeUrls: ['https://shop.example'] });
  const submitted = await mor.call('POST', `${path}/submit`);
  expect(submitted.body).toMatchObject({ status: 'submitted', submittedAt: expect.any(String) });
  expect((await mor.call('POST', `${path}/submit`)).body.code).toBe('invalid_status');

  const errors = [
    { field: 'businessDescription', message: 'say more' },
    { field: 'BUSINESS_MODEL', message: 'unclear' },
    { field: 'COMPANY', message: 'blurred' },
  ];
  await mor.control(`/applications/${id}/review`, { outcome: 'changes_requested', message: 'see below', errors });
  const commented = await mor.call('GET', path);
  expect(commented.body).toMatchObject({
    status: 'changes_requested',
    reviewMessage: 'see below',
    reviewedAt: expect.any(String),
    requirements: { errors },
  });
  const resolved = await mor.call('PATCH', path, { businessDescription: 'Software for shops' });
  expect(resolved.body.requirements).toEqual({ errors: [errors[2]] });
  await mor.call('POST', `${path}/submit`);
  await mor.control(`/applications/${id}/review`, { outcome: 'approved' });
  expect((await mor.call('GET', path)).body).toMatchObject({ status: 'approved', requirements: {} });
  await mor.control(`/applications/${id}/review`, { outcome: 'SIGNED_BY_MERCHANT' });
  expect((await mor.call('GET', path)).body.status).toBe('approved');
  expect((await mor.call('POST', '/partner/api/onboarding/initiate', initiate)).body.status).toBe('SIGNED_BY_MERCHANT');
});

it.each(['submitted', 'approved', 'rejected'])(
  "the sandbox's MoR refuses each change of an application in status %s with 409 invalid_status",
  async (outcome) => {
    const id = await merchantIn(`in-${outcome}`, outcome, { message: 'no' });
    const path = `/partner/api/merchants/${id}/application`;
    for (const [method, to, body] of [
      ['PUT', path, product('mor')],
      ['PATCH', path, {}],
      ['POST', `${path}/submit`, undefined],
    ] as const) {
      const reply = await mor.call(method, to, body);
      expect([method, reply.status, reply.body.code]).toEqual([method, 409, 'invalid_status']);
    }
    expect((await mor.control(`/applications/${id}/review`, { outcome: 'approved' })).status).toBe(
      outcome === 'submitted' ? 200 : 409,
    );
  },
);

it("the sandbox's MoR sets no requirements for an application with the product “mor” or an unknown product", async () => {
  for (const code of ['mor', 'something']) {
    const made = await mor.call('POST', '/partner/api/merchants', { reference: `no-due-${code}` });
    const put = await mor.call('PUT', `/partner/api/merchants/${made.body.id}/application`, product(code));
    expect([put.status, put.body.requirements, put.body.status]).toEqual([201, {}, 'created']);
  }
});

it("the sandbox's MoR keeps a merchant without a company until a request to onboarding/initiate adds the company", async () => {
  const made = await mor.call('POST', '/partner/api/merchants', { reference: 'bare' });
  const path = `/partner/api/merchants/${made.body.id}`;
  expect((await mor.call('GET', path)).body).toEqual({ id: made.body.id, reference: 'bare' });
  expect((await mor.call('GET', `${path}/application`)).status).toBe(404);
  const started = await mor.call('POST', '/partner/api/onboarding/initiate', {
    ...initiate,
    merchantReference: 'bare',
  });
  expect(started.body.isExistingApplication).toBeUndefined();
  expect((await mor.call('GET', path)).body.company).toMatchObject({ legalName: '', registeredAddress: { city: '' } });
});

it.each([
  ['no fields sent', {}, ['merchantReference', 'productCode', 'mode', 'company']],
  ['blank reference', { ...initiate, merchantReference: ' ' }, ['merchantReference']],
  [
    'empty company',
    { ...initiate, company: {} },
    [
      'company.registeredAddress',
      'company.legalName',
      'company.website',
      'company.taxId',
      'company.registrationNumber',
      'company.jurisdiction',
    ],
  ],
  [
    'no city',
    { ...initiate, company: { ...company, registeredAddress: { ...registeredAddress, city: undefined } } },
    ['company.registeredAddress.city'],
  ],
])(
  "the sandbox's MoR names each missing field of a request to onboarding/initiate: %s",
  async (_name, body, fields) => {
    const reply = await mor.call('POST', '/partner/api/onboarding/initiate', body);
    expect([reply.status, reply.body.code]).toEqual([400, 'invalid_argument']);
    expect(new Set(fieldsOf(reply))).toEqual(new Set(fields));
  },
);

it.each([
  ['broken JSON', '{'],
  ['unknown mode', { ...initiate, mode: 'EMAIL' }],
  ['unknown tier', { ...initiate, company: { ...company, gmvTier: 'HUGE' } }],
])(
  "the sandbox's MoR answers 500 to an unreadable body of a request to onboarding/initiate: %s",
  async (_name, body) => {
    const reply = await mor.call('POST', '/partner/api/onboarding/initiate', body);
    expect([reply.status, reply.body.code]).toEqual([500, 'internal_error']);
  },
);

it.each([
  ['a body without JSON', '{', 'body'],
  ['a missing reference', {}, 'reference'],
  ['a blank reference', { reference: ' ' }, 'reference'],
])("the sandbox's MoR refuses a new merchant with %s", async (_name, body, field) => {
  const reply = await mor.call('POST', '/partner/api/merchants', body);
  expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, 'validation_error', [field]]);
});

it("if a partner uses a merchant's reference again, the sandbox's MoR names that merchant; another partner may use the reference", async () => {
  const first = await mor.call('POST', '/partner/api/merchants', { reference: 'twice' });
  const second = await mor.call('POST', '/partner/api/merchants', { reference: 'twice' });
  expect([second.status, second.body]).toEqual([
    409,
    { code: 'duplicate_reference', existingMerchantId: first.body.id },
  ]);
  expect((await mor.call('POST', '/partner/api/merchants', { reference: 'twice' }, 'otherPartner')).status).toBe(201);
});

it("the sandbox's MoR refuses a wrong choice of products, codes or regions and names the field", async () => {
  const id = await merchantIn('put-checks');
  const path = `/partner/api/merchants/${id}/application`;
  for (const [body, field] of [
    [{}, 'products'],
    [{ products: [] }, 'products'],
    [
      {
        products: [
          { code: 'mor', regions: ['EU'] },
          { code: 'tor', regions: ['EU'] },
        ],
      },
      'products',
    ],
    [{ products: [{ regions: ['EU'] }] }, 'products[0].code'],
    [product('tor'), 'products[0].code'],
    [product('mor', []), 'products[0].regions'],
    [{ products: [{ code: 'mor' }] }, 'products[0].regions'],
    ['[', 'body'],
  ] as const) {
    const reply = await mor.call('PUT', path, body);
    expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, 'validation_error', [field]]);
  }
  const wrong = await mor.call('PATCH', path, { storeUrls: 'https://a.example' });
  expect([wrong.status, wrong.body.code, fieldsOf(wrong)]).toEqual([400, 'validation_error', ['body']]);
});

it("the sandbox's MoR answers 404 to an unknown or malformed merchant id, or another partner's, on every route", async () => {
  const id = await merchantIn('mine');
  const cases: [string, 'partner' | 'otherPartner'][] = [
    [id, 'otherPartner'],
    [unknownId, 'partner'],
    ['not-a-uuid', 'partner'],
  ];
  for (const [merchantId, who] of cases) {
    const path = `/partner/api/merchants/${merchantId}`;
    for (const [method, to, body] of [
      ['GET', path, undefined],
      ['GET', `${path}/application`, undefined],
      ['PUT', `${path}/application`, product('mor')],
      ['PATCH', `${path}/application`, {}],
      ['POST', `${path}/application/submit`, undefined],
    ] as const) {
      const reply = await mor.call(method, to, body, who);
      expect([method, to, reply.status, reply.body]).toEqual([method, to, 404, { code: 'not_found', errors: [] }]);
    }
  }
});

it("the sandbox's MoR answers 401 without a token or with a merchant's token on every partner route", async () => {
  for (const who of ['nobody', 'merchant'] as const) {
    for (const target of [
      'GET /whoami',
      'GET /regions',
      'POST /onboarding/initiate',
      'GET /merchants',
      'POST /merchants',
      `GET /merchants/${unknownId}`,
      `GET /merchants/${unknownId}/application`,
      `PUT /merchants/${unknownId}/application`,
      `PATCH /merchants/${unknownId}/application`,
      `POST /merchants/${unknownId}/application/submit`,
    ]) {
      const [method = '', path = ''] = target.split(' ');
      const reply = await mor.call(method, `/partner/api${path}`, undefined, who);
      expect([target, reply.status, reply.body.code]).toEqual([target, 401, undefined]);
    }
  }
});

it("the tests of the sandbox's MoR cover every answer in Document 1 of the MoR's API, about onboarding", () => {
  expect(mor.uncovered('onboarding')).toEqual([]);
});
