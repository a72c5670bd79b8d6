// An example for every body of the OpenAPI document: requests by hand, answers put together field by field. The linter
// of test/docs/openapi.test.ts checks each against its schema.
import { type OpenAPIObject } from '@nestjs/swagger';
import { ANSWERS, REQUESTS } from './example-values.js';

type Json = Readonly<Record<string, unknown>>;
type Media = { readonly schema?: unknown; example?: unknown };

const REF = '#/components/schemas/';
const SHOWN_LISTS = new Set([
  'data',
  'payments',
  'errors',
  'currencies',
  'transactions',
  'lineItems',
  'refundLineItems',
]);

/** Adds `example` to the schema of each JSON body. Changes the document in place and returns it. */
export function withExamples(document: OpenAPIObject): OpenAPIObject {
  const schemas: Json = { ...document.components?.schemas };
  for (const item of Object.values(document.paths)) {
    for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) {
      if (operation === undefined) continue;
      const body = operation.requestBody;
      if (body !== undefined && 'content' in body) illustrate(body.content, schemas);
      for (const response of Object.values(operation.responses)) {
        if (response !== undefined && 'content' in response) illustrate(response.content ?? {}, schemas);
      }
    }
  }
  return document;
}

function illustrate(content: Readonly<Record<string, Media>>, schemas: Json): void {
  const media = content['application/json'];
  if (media !== undefined) media.example ??= exampleOf(objectOf(media.schema), schemas, { of: '', field: '' });
}

/** A schema's field, and the name of the schema with this field. */
type Place = { readonly of: string; readonly field: string };

function exampleOf(schema: Json, schemas: Json, place: Place): unknown {
  const { $ref: ref, allOf, anyOf, oneOf, example, enum: words, items, type } = schema;
  const own = ANSWERS[`${place.of}.${place.field}`];
  if (own !== undefined) return own;
  if (typeof ref === 'string') return exampleOfRef(ref.slice(REF.length), schemas);
  if (example !== undefined) return example;
  const some = [allOf, anyOf, oneOf].flatMap((one) => (Array.isArray(one) ? (one as unknown[]) : [])).map(objectOf);
  if (some.some((one) => one['type'] === 'null')) return null;
  if (some[0] !== undefined) return exampleOf(some[0], schemas, place);
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const known = ANSWERS[place.field];
  if (types.includes('string') && typeof known === 'string' && !Array.isArray(words)) return known;
  if (types.includes('integer') && typeof known === 'number') return known;
  if (types.includes('null')) return null;
  if (Array.isArray(words)) return words[0];
  if (types.includes('array')) return listOf(objectOf(items), schemas, place);
  if (types.includes('object')) return fieldsOf(schema, schemas, place.of);
  if (schema['format'] === 'date-time') return '2026-11-22T09:00:00.000Z';
  if (types.includes('integer')) return 1;
  if (types.includes('boolean')) return false;
  return 'text';
}

/** Lists within an answer are empty, except for its main ones. */
function listOf(items: Json, schemas: Json, { of, field }: Place): unknown[] {
  return of !== '' && '$ref' in items && !SHOWN_LISTS.has(field) ? [] : [exampleOf(items, schemas, { of, field })];
}

function exampleOfRef(name: string, schemas: Json): unknown {
  return REQUESTS[name] ?? fieldsOf(objectOf(schemas[name]), schemas, name);
}

/** The required fields, and nothing else. */
function fieldsOf(schema: Json, schemas: Json, of: string): Json {
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(objectOf(schema['properties'])).filter(([name]) => required.includes(name));
  return Object.fromEntries(fields.map(([field, one]) => [field, exampleOf(objectOf(one), schemas, { of, field })]));
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
