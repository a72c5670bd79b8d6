// Generates the generated half of packages/client from the OpenAPI document: types by openapi-typescript, and one
// method for each operation.
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { openApiDocument } from '../docs/routes-reference.js';

type Json = Readonly<Record<string, unknown>>;

export type GeneratedFile = {
  /** The path from the root of the project, with `/`. */
  readonly path: string;
  readonly text: string;
};

const FOLDER = 'packages/client/src/generated';
const HEAD = '// Made from the OpenAPI document by `npm run client`; do not edit it by hand.\n';
const LONGEST_COMMENT = 60;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** Error codes of the client itself, in addition to those of the API. */
const OWN_CODES = ['connection_failed', 'timeout', 'unreadable_answer'];
/** Codes of one word. All other codes have an underscore, which tells them from names of fields. */
const SHORT_CODES = ['unauthorized', 'forbidden'];

/** Returns both files with their right content. Needs no database, no network and no setting. */
export async function generatedClient(): Promise<readonly GeneratedFile[]> {
  const document = await openApiDocument();
  const operations = operationsOf(document);
  const notified = Object.entries(objectOf(document['webhooks'])).map(
    ([type, item]) =>
      [`${capital(type.replace(/[._](.)/g, (_, c: string) => c.toUpperCase()))}Notification`, item] as const,
  );
  const schemas = {
    ...objectOf(objectOf(document['components'])['schemas']),
    ...Object.fromEntries(operations.flatMap((o) => (o.query.length === 0 ? [] : [[queryName(o), queryOf(o)]]))),
    ...Object.fromEntries(
      notified.map(([name, item]) => [name, jsonOf(objectOf(objectOf(item)['post'])['requestBody'])]),
    ),
  };
  const names = notified.map(([name]) => name);
  return [
    { path: `${FOLDER}/schema.ts`, text: await schemaFile({ openapi: document['openapi'], schemas }) },
    { path: `${FOLDER}/operations.ts`, text: operationsFile(operations, names) },
  ];
}

/** Contains only the types of objects. operations.ts has the requests and responses. */
async function schemaFile({ openapi, schemas }: { openapi: unknown; schemas: Json }): Promise<string> {
  const document = {
    openapi,
    info: { title: 'Crossbill', version: '1' },
    paths: {},
    components: { schemas: forTypes(schemas) },
  };
  const nodes = await openapiTS(JSON.stringify(document), { silent: true });
  const kept = nodes.filter((node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components');
  const text = astToString(kept).replace(/^ *\/\*\* @\w+(?: \{\w+\})? \*\/\n/gm, ''); // `@enum {string}`, `@constant`
  return `${HEAD}${text.replaceAll('/** @description ', '/** ')}`;
}

type Operation = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly said: Json;
  readonly query: readonly Json[];
  /** The type of the request body; null: none. */
  readonly body: string | null;
  readonly bodyOptional: boolean;
  /** The type of the response. */
  readonly reply: string;
  /** For a list, the fields of its response: the rows, and the cursor of the next page. */
  readonly list: readonly [rows: string, cursor: string] | null;
  readonly repeat: 'key' | 'safe' | 'never';
};

function operationsOf(document: Json): Operation[] {
  return Object.entries(objectOf(document['paths'])).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const said = objectOf(objectOf(item)[method]);
      if (typeof said['operationId'] !== 'string') return [];
      const parameters = arrayOf(said['parameters']).map(objectOf);
      const query = parameters.filter((p) => p['in'] === 'query');
      const keyed = parameters.some((p) => p['in'] === 'header' && p['name'] === 'Idempotency-Key');
      const body = resolved(jsonOf(said['requestBody']), document);
      const bare = arrayOf(body['required']).length === 0 && body['oneOf'] === undefined;
      return [
        {
          name: said['operationId'],
          method: method.toUpperCase(),
          path,
          said,
          query,
          body: said['requestBody'] === undefined ? null : typeOf(jsonOf(said['requestBody'])),
          bodyOptional: bare,
          reply: replyOf(said),
          list: query.some((p) => p['name'] === 'cursor') ? listOf(said, document) : null,
          repeat: keyed ? 'key' : method === 'post' && said['x-repeatable'] !== true ? 'never' : 'safe',
        } satisfies Operation,
      ];
    }),
  );
}

/** The type of a successful response; a union if the responses differ. */
function replyOf(said: Json): string {
  const done = Object.entries(objectOf(said['responses'])).filter(([status]) => /^2/.test(status));
  const types = done.map(([, reply]) => {
    const content = objectOf(objectOf(reply)['content']);
    if ('text/plain' in content) return 'string';
    return 'application/json' in content ? typeOf(jsonOf(reply)) : 'undefined';
  });
  return [...new Set(types)].join(' | ');
}

/** Writes a schema as a TypeScript type. Every object type has a name. */
function typeOf(schema: Json): string {
  const { $ref: ref, oneOf, type, items } = schema;
  if (typeof ref === 'string') return `Schemas['${ref.split('/').at(-1) ?? ''}']`;
  if (oneOf !== undefined) return arrayOf(oneOf).map(objectOf).map(typeOf).join(' | ');
  return type === 'array' ? `${typeOf(objectOf(items))}[]` : 'Record<string, unknown>';
}

/** The query parameters of a list as one object type. */
function queryOf({ query }: Operation): Json {
  const fields = query.map((p) => [
    p['name'],
    { ...objectOf(p['schema']), description: p['description'], default: undefined },
  ]);
  const required = query.flatMap((p) => (p['required'] === true ? [p['name']] : []));
  return { type: 'object', properties: Object.fromEntries(fields) as Json, required };
}

function queryName({ name }: Operation): string {
  return `${capital(name)}Query`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

type List = readonly [rows: string, cursor: string];

function listOf(said: Json, document: Json): List {
  const fields = objectOf(resolved(jsonOf(objectOf(said['responses'])['200']), document)['properties']);
  const [rows] = Object.entries(fields).find(([, field]) => objectOf(field)['type'] === 'array') ?? [];
  const cursor = Object.keys(fields).find((name) => /^next_?cursor$/i.test(name));
  if (rows === undefined || cursor === undefined) throw new Error(`${String(said['operationId'])} gives no pages`);
  return [rows, cursor];
}

function operationsFile(operations: readonly Operation[], notifications: readonly string[]): string {
  const codes = [...new Set([...operations.flatMap(({ said }) => codesOf(said)), ...OWN_CODES])].sort();
  return `${HEAD}import { type CallOptions, type Pages, type Route, type Schemas } from '../types.js';

/** Every code that this version of the API names; the MoR may answer others. */
export type KnownCode =
${codes.map((code) => `  | '${code}'`).join('\n')};

/** What Crossbill tells your backend: by \`type\`, TypeScript knows \`data\`. */
export type Notification =
${notifications.map((name) => `  | Schemas['${name}']`).join('\n')};

/** Method and path; what is sent; whether it may be sent again; the fields of a list. */
export const ROUTES: Readonly<Record<keyof Operations, Route>> = {
${operations.map(routeLine).join('\n')}
};

/** One method for each operation of the API. */
export interface Operations {
${operations.map(methodText).join('\n')}
}
`;
}

function routeLine({ name, method, path, query, body, list, repeat }: Operation): string {
  const sent = body !== null ? 'body' : query.length > 0 ? 'query' : 'nothing';
  const parts = [`'${method}'`, `'${path}'`, `'${sent}'`, `'${repeat}'`, ...(list ?? []).map((field) => `'${field}'`)];
  return `  ${name}: [${parts.join(', ')}],`;
}

function methodText(operation: Operation): string {
  const { name, path, said, query, body, bodyOptional, reply, list } = operation;
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, id = '']) => `${id}: string`);
  const optional = query.some((p) => p['required'] === true) ? '' : '?';
  const filters = query.length === 0 ? [] : [`query${optional}: Schemas['${queryName(operation)}']`];
  const sent = body === null ? filters : [`body${bodyOptional ? '?' : ''}: ${body}`];
  const inputs = [...ids, ...sent, 'options?: CallOptions'].join(', ');
  const gives = list === null ? `Promise<${reply}>` : `Pages<${reply}, '${list[0]}'>`;
  return `  /** ${sentence(said['summary'])} */\n  ${name}(${inputs}): ${gives};`;
}

/** Returns the first sentence. */
function sentence(text: unknown): string {
  const plain =
    String(text)
      .replaceAll('*/', '* /')
      .split(/(?<=[.;]) /)[0] ?? '';
  return /[.;]$/.test(plain) ? plain.replace(/;$/, '.') : `${plain}.`;
}

/** The error codes in the descriptions of refusals, in backquotes. */
function codesOf(said: Json): string[] {
  const refusals = Object.entries(objectOf(said['responses'])).filter(([status]) => /^[45]/.test(status));
  const words = refusals.flatMap(([, one]) => [...String(objectOf(one)['description']).matchAll(/`([a-z_]+)`/g)]);
  return words.map(([, word = '']) => word).filter((word) => word.includes('_') || SHORT_CODES.includes(word));
}

/**
 * In the types from openapi-typescript, keeps comments only on the fields a caller sends. With all comments the package
 * would be twice as large. The reference has them all.
 */
function forTypes(schemas: Json): Json {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, bare(schema, /(Dto|Request|Query)$/.test(name))]),
  );
}

function bare(value: unknown, explained: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => bare(one, explained));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
      if (name === 'example' || name === 'format' || name === 'default') return [];
      if (name !== 'description' || typeof one !== 'string') return [[name, bare(one, explained)]];
      const short = sentence(one);
      return explained && short.length <= LONGEST_COMMENT ? [[name, short]] : [];
    }),
  );
}

function jsonOf(part: unknown): Json {
  return objectOf(objectOf(objectOf(objectOf(part)['content'])['application/json'])['schema']);
}

function resolved(schema: Json, document: Json): Json {
  const name = typeof schema['$ref'] === 'string' ? (schema['$ref'].split('/').at(-1) ?? '') : '';
  return name === '' ? schema : objectOf(objectOf(objectOf(document['components'])['schemas'])[name]);
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
