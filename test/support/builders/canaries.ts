// Canaries: texts about an invented person, one for each field, to find whatever keeps them.
import { readFileSync } from 'node:fs';
import { type Json, type World } from '../rigs/world.js';

type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
};
type Operation = {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
};

/** Ids, amounts, times, currencies and countries: they stay after an erasure, or a canary in them is refused. */
const NO_WORDS =
  /(^|_)id$|Id$|^(customer|event|type|object|subscription|currency|country|jurisdiction|status|created|createdAt)$|At$|_at$|[dD]ate$|_on$|By$|^deadline$|[aA]mount|Price$|[cC]ountry/;

export class Canaries {
  private readonly fields: string[] = [];

  /** The words for a field. They are no code and no id, and stand nowhere else. */
  in(field: string): string {
    this.fields.push(field);
    return `Zoë Quill kanarie${this.fields.length}e`;
  }

  get planted(): ReadonlySet<string> {
    return new Set(this.fields);
  }

  /** The fields whose words are in the text. */
  found(text: string): readonly string[] {
    return [...text.matchAll(/kanarie(\d+)e/g)].map(([, n]) => this.fields[Number(n) - 1] ?? '');
  }

  /** A copy with a canary in each text of the value, except in ids, amounts and times. */
  fill(value: unknown, path: string): unknown {
    if (Array.isArray(value)) return value.map((one) => this.fill(one, path));
    if (typeof value === 'string')
      return NO_WORDS.test(path.split('.').at(-1) ?? '') ? value : this.wordsLike(value, path);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.fill(inner, `${path}.${name}`)]),
    );
  }

  private wordsLike(value: string, path: string): string {
    const words = this.in(path);
    if (value.startsWith('https://')) return `https://quill.example/${words.split(' ').at(-1) ?? ''}`;
    return value.includes('@') ? `${words.split(' ').at(-1) ?? ''}@quill.example` : words;
  }

  /**
   * A body for a route of the API, from its schema: each field is present, and each text is a canary, unless `given` has
   * another value for its path.
   */
  body(path: string, given: Json): Json {
    const schema = schemaOf(path);
    return schema === null ? {} : (this.sample(schema, path, given) as Json);
  }

  private sample(schema: Schema, path: string, given: Json): unknown {
    const own = path.slice(path.indexOf('#') + 2);
    if (own in given) return given[own];
    const [whole] = [schema.allOf?.[0] ?? schema.oneOf?.[0] ?? schema.anyOf?.[0]];
    if (schema.$ref !== undefined) return this.sample(named(schema.$ref), path, given);
    if (whole !== undefined) return this.sample(whole, path, given);
    if (schema.enum !== undefined) return schema.enum[0];
    if (schema.properties !== undefined) {
      const members = Object.entries(schema.properties).map(([name, inner]) => [
        name,
        this.sample(inner, `${path}.${name}`, given),
      ]);
      return Object.fromEntries(members.filter(([, value]) => value !== undefined));
    }
    const isOf = (type: string): boolean => [schema.type].flat().includes(type);
    if (isOf('array') && schema.items !== undefined) return [this.sample(schema.items, path, given)];
    if (isOf('object')) return { hint: this.in(`${path}.hint`) };
    if (isOf('boolean')) return true;
    if (isOf('string')) return this.text(schema, path);
    return 100;
  }

  private text({ pattern, format }: Schema, path: string): string {
    const name = path.split('.').at(-1) ?? '';
    if (format === 'uuid') return '11111111-2222-4333-8444-555555555555';
    if (pattern === '^[A-Z]{2}$' || /country|jurisdiction/i.test(name)) return 'GB';
    if (pattern === '^[A-Za-z]{3}$' || name === 'currency') return 'EUR';
    if (/[dD]ate$|_on$/.test(name)) return '2099-12-31';
    if (/Price$|[aA]mount$/.test(name)) return '10.00';
    if (/email/i.test(name)) return this.wordsLike('a@b', path);
    if (/url/i.test(name)) return this.wordsLike('https://', path);
    return NO_WORDS.test(name) ? 'id_0001' : this.in(path);
  }
}

const DOCUMENT = JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

function named(ref: string): Schema {
  return DOCUMENT.components.schemas[ref.split('/').at(-1) ?? ''] ?? {};
}

/** The schema of a route's body. `path`: `POST /v1/signups#`. Null: the route takes no body. */
function schemaOf(path: string): Schema | null {
  const [method = '', route = ''] = path.replace(/#.*/, '').split(' ');
  const body = DOCUMENT.paths[route]?.[method.toLowerCase()]?.requestBody;
  return body?.content['application/json']?.schema ?? null;
}

/** Each route of the API that takes a body: `POST /v1/signups`. */
export const ROUTES_WITH_BODY: readonly string[] = Object.entries(DOCUMENT.paths).flatMap(([route, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody }]) =>
    requestBody === undefined ? [] : [`${method.toUpperCase()} ${route}`],
  ),
);

/** The fields whose canaries are anywhere in the database, each with its column. */
export async function inDatabase(world: World, canaries: Canaries): Promise<readonly string[]> {
  const columns = await world.query<{ t: string; c: string; type: string }>(
    `select table_name as t, column_name as c, data_type as type from information_schema.columns
      where table_schema = 'public' and data_type in ('text', 'character varying', 'character', 'bytea', 'jsonb', 'json', 'ARRAY')`,
  );
  // One statement for all columns: a connection for each of them would take most of the test's time.
  const parts = columns.map(({ t, c, type }) => {
    const shown = type === 'bytea' ? `encode("${c}", 'escape')` : `"${c}"::text`;
    return `select '${t}.${c}' as at, ${shown} as v from "${t}" where ${shown} like '%kanarie%'`;
  });
  const rows = await world.query<{ at: string; v: string }>(parts.join(' union all '));
  return [...new Set(rows.flatMap(({ at, v }) => canaries.found(v).map((field) => `${at}: ${field}`)))].sort();
}
