// The OpenAPI document is fit to generate clients from: no warning of a strict linter, plain names, no shape left open.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeAll, expect, it } from '@jest/globals';
import { NOTIFICATION_TYPES } from '../../src/features/notifications/rules/all.js';
import { openApiDocument } from '../../tools/docs/routes-reference.js';

type Json = Readonly<Record<string, unknown>>;
type Operation = Json & {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Json>> }>>;
  readonly requestBody?: { readonly content: Readonly<Record<string, Json>> };
};
type Document = Json & {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** Somebody else's shapes, or maps known only by their keys: no fields to name. */
const WITHOUT_FIELDS = [
  'AuditView.detail',
  'CreateRefundDto.metadata',
  'EventWithBodyView.body',
  'InitiateRequest.merchantContext',
  'MoveView.fact', // each code has its own
  'NotificationWithTriesView.body',
  'ReviewView.fact', // each code has its own
  'SignupCustomerDto.address',
  'TimelineLine.detail',
  'importProduct answers', // Document 2 does not show it
  'verify.differences by_kind',
];

/** A route open to all refuses nobody: it has no 4xx. */
const RULES = { extends: ['recommended-strict'], rules: { 'operation-4xx-response': 'off' } } as const;

async function problemsOf(document: unknown): Promise<string[]> {
  const config = await createConfig({ ...RULES, extends: [...RULES.extends] });
  const found = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config });
  return found.map((p) => `${p.severity} ${p.ruleId}: ${p.message} at ${p.location[0]?.pointer ?? ''}`);
}

/** Every object in `schema` without fields, by its place. */
function open(schema: unknown, at: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, properties } = schema as { type?: unknown; properties?: Json };
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (isObject && properties === undefined) return [at];
  return Object.entries(schema).flatMap(([key, one]) => {
    if (key === 'example') return [];
    if (key !== 'properties') return open(one, at);
    return Object.entries(one as Json).flatMap(([name, field]) => open(field, at === '' ? name : `${at}.${name}`));
  });
}

let document: Document;
let operations: Operation[];
beforeAll(async () => {
  document = (await openApiDocument()) as Document;
  operations = Object.values(document.paths).flatMap((path) => Object.values(path));
});

it("the OpenAPI document passes the linter's strict rules", async () => {
  expect(await problemsOf(document)).toEqual([]);
});

it('the OpenAPI document has version 3.1, names null as a type, and describes every notification', () => {
  expect(document['openapi']).toBe('3.1.0');
  expect(Object.keys(document.webhooks)).toEqual([...NOTIFICATION_TYPES]);
  expect(JSON.stringify(document)).not.toContain('"nullable"');
  expect(JSON.stringify(document['components'])).toContain('["string","null"]');
});

it('the OpenAPI linter refuses an example with a value its schema forbids', async () => {
  const [path = ''] = Object.keys(document.paths);
  const broken = structuredClone(document);
  Object.assign(broken.paths[path]?.['post']?.requestBody?.content['application/json'] ?? {}, { example: { kind: 1 } });
  expect((await problemsOf(broken)).join()).toContain('no-invalid-media-type-examples');
});

it('the OpenAPI document gives each operation a plain name of its own and a group with a description', () => {
  const notified = Object.values(document.webhooks).flatMap((path) => Object.values(path));
  const names = [...operations, ...notified].map(({ operationId }) => operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const { operationId } of operations) expect(operationId).toMatch(/^[a-z]+([A-Z][A-Za-z]+)+$/);
  expect(names).toEqual(expect.arrayContaining(['createSignup', 'listPayments', 'createRefund']));
  const explained = new Set(document.tags.filter((tag) => tag.description !== '').map(({ name }) => name));
  for (const { tags } of operations) expect(tags.filter((tag) => !explained.has(tag))).toEqual([]);
  expect([...explained].filter((tag) => !operations.some(({ tags }) => tags.includes(tag)))).toEqual([]);
});

it('the OpenAPI document gives each operation an example of its success, and all refusals the same fields', () => {
  for (const { operationId, responses, security } of operations) {
    const done = Object.entries(responses).filter(([status]) => /^2/.test(status));
    expect([operationId, done.length]).not.toEqual([operationId, 0]);
    for (const [status, { content }] of done) {
      const media = content?.['application/json'];
      if (status === '204' || content?.['text/plain'] !== undefined) continue;
      expect([operationId, media?.['schema']]).toEqual([operationId, expect.any(Object)]);
      expect([operationId, media?.['example']]).toEqual([operationId, expect.any(Object)]);
    }
    const refused = Object.entries(responses).filter(([status]) => /^[45]/.test(status));
    if ((security as unknown[]).length === 0) continue;
    expect([operationId, refused.length > 0]).toEqual([operationId, true]);
    for (const [, { content }] of refused) {
      expect(content?.['application/json']?.['schema']).toEqual({ $ref: '#/components/schemas/ProblemView' });
    }
  }
});

it('the OpenAPI document lists the fields of each object, and allows other fields only in free-form objects', () => {
  const { schemas } = document['components'] as { schemas: Json };
  const found = [
    ...Object.entries(schemas).flatMap(([name, schema]) => (name === 'UndoReturnDto' ? [] : open(schema, name))),
    ...operations.flatMap(({ operationId, responses, requestBody }) => [
      ...open(responses, `${operationId} answers`),
      ...open(requestBody, `${operationId} takes`),
    ]),
    ...Object.entries(document.webhooks).flatMap(([type, { post }]) =>
      open(post?.requestBody, '').map((at) => `${type} ${at.replace('data.', '')}`),
    ),
  ];
  expect(found.sort()).toEqual(WITHOUT_FIELDS);
});
