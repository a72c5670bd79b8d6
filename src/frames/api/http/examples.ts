// Builds an example for every body of the OpenAPI document, from the examples of its fields. The linter of
// test/docs/openapi.test.ts checks each example against its schema.
import { type OpenAPIObject } from '@nestjs/swagger';

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
  if (media !== undefined) media.example ??= exampleOf(objectOf(media.schema), schemas);
}

/** Builds the example for one schema. `field`: the name of the field with this schema; empty for a whole body. */
function exampleOf(schema: Json, schemas: Json, field = ''): unknown {
  const { $ref: ref, allOf, anyOf, oneOf, example, enum: words, items, type } = schema;
  if (example !== undefined) return example;
  if (typeof ref === 'string') return exampleOf(objectOf(schemas[ref.slice(REF.length)]), schemas);
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const some = [allOf, anyOf, oneOf].flatMap((one) => (Array.isArray(one) ? (one as unknown[]) : [])).map(objectOf);
  if (types.includes('null') || some.some((one) => one['type'] === 'null')) return null;
  if (some[0] !== undefined) return exampleOf(some[0], schemas, field);
  if (Array.isArray(words)) return words[0];
  if (types.includes('array')) return listOf(objectOf(items), schemas, field);
  if (types.includes('object')) return fieldsOf(schema, schemas);
  if (schema['format'] === 'date-time') return '2026-11-22T09:00:00.000Z';
  if (types.includes('integer')) return 1;
  return types.includes('boolean') ? false : 'text';
}

/** Builds the example of a list: one entry. A list of objects stays empty, except the main lists in SHOWN_LISTS. */
function listOf(items: Json, schemas: Json, field: string): unknown[] {
  return field !== '' && '$ref' in items && !SHOWN_LISTS.has(field) ? [] : [exampleOf(items, schemas, field)];
}

/** Builds the example of an object from its required fields, and from each optional field with an example. */
function fieldsOf(schema: Json, schemas: Json): Json {
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(objectOf(schema['properties'])).map(([name, one]) => [name, objectOf(one)] as const);
  const shown = fields.filter(([name, one]) => required.includes(name) || 'example' in one);
  return Object.fromEntries(shown.map(([name, one]) => [name, exampleOf(one, schemas, name)]));
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
