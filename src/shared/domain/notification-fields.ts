// The fields of a notification. Each field has a schema and a sample. The type of a field is the type of its sample.
export type JsonSchema = { readonly [key: string]: unknown };
export type Field<T> = { readonly schema: JsonSchema; readonly sample: T };
export type Fields = Readonly<Record<string, Field<unknown>>>;
/**
 * The data as JSON: amounts are integers in smallest units, times are ISO 8601 in UTC, currencies are ISO 4217 in lower
 * case.
 */
export type Data<F extends Fields> = { readonly [K in keyof F]: F[K]['sample'] };

const field = <T>(schema: JsonSchema, description: string, sample: T): Field<T> => ({
  schema: { ...schema, description },
  sample,
});

export const text = (about: string, sample: string) => field({ type: 'string' }, about, sample);
export const time = (about: string, sample: string) => field({ type: 'string', format: 'date-time' }, about, sample);
export const count = (about: string, sample: number) => field({ type: 'integer' }, about, sample);
export const flag = (about: string, sample: boolean) => field({ type: 'boolean' }, about, sample);
export const word = <const W extends string>(words: readonly W[], about: string, sample: NoInfer<W>) =>
  field<W>({ type: 'string', enum: [...words] }, about, sample);
/** A field for an object with a whole number in each member. */
export const counts = (about: string, sample: Readonly<Record<string, number>>) =>
  field({ type: 'object', additionalProperties: { type: 'integer' } }, about, sample);
export const listOf = <F extends Fields>(fields: F, about: string): Field<readonly Data<F>[]> =>
  field({ type: 'array', items: schemaOfFields(fields) }, about, [sampleOfFields(fields)]);

export const orNull = <T>({ schema, sample }: Field<T>): Field<T | null> => ({
  schema: { ...schema, type: [schema['type'], 'null'] },
  sample,
});
/** Makes a field nullable. The sample contains null. */
export const none = <T>(of: Field<T>): Field<T | null> => ({ ...orNull(of), sample: null });

/** The JSON schema of the fields. Every property is required; null means there is no value. */
export function schemaOfFields(fields: Fields): JsonSchema {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
  return { type: 'object', properties, required: Object.keys(properties) };
}

export function sampleOfFields<F extends Fields>(fields: F): Data<F> {
  // The type cast is safe: each name keeps the type of its own sample.
  return Object.fromEntries(Object.entries(fields).map(([name, { sample }]) => [name, sample])) as Data<F>;
}
