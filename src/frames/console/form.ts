// Reads a posted form with plain text fields. A field may occur only once.
import { randomUUID } from 'node:crypto';
import { type Request } from 'express';
import { bodyOf } from '../api/http/body.js';
import { invalid, Problem } from '../api/http/problem.js';

/** The most fields of a form: enough for a page of rows with boxes, and other fields. */
const MAX_FIELDS = 60;

/** The fields of a form. A missing field reads as an empty text, like an empty input. */
export class Form {
  readonly #fields: ReadonlyMap<string, string>;

  constructor(fields: ReadonlyMap<string, string>) {
    this.#fields = fields;
  }

  text(name: string): string {
    return this.#fields.get(name) ?? '';
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** The names of the fields with this prefix, without the prefix. */
  names(prefix: string): readonly string[] {
    return [...this.#fields.keys()].filter((n) => n.startsWith(prefix)).map((n) => n.slice(prefix.length));
  }
}

/** Makes a new idempotency key for a form. */
export function newKey(): string {
  return `con-${randomUUID()}`;
}

/** True for a key of the console's forms. */
export const isKey = (key: string): boolean => /^con-[0-9a-z_-]{1,80}$/i.test(key);

/**
 * Returns the form's idempotency key: Crossbill carries out a repeated form only one time. Throws 400 if the key is
 * missing or has another format than the console's keys.
 */
export function formKey(form: Form): string {
  const key = form.text('key');
  if (!isKey(key)) throw invalid('key', 'is not from a form of this console: reload it');
  return key;
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never;

const forms = new WeakMap<Request, Form>();

/** Throws 415 unless the header declares a form: another site could send JSON as plain text. */
export function mustBeForm(req: Request): void {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(req.headers['content-type'] ?? '')) {
    throw new Problem(415, 'unsupported_media_type', 'The console accepts only its own forms.');
  }
}

/** Reads the form's fields and stores them for `formOf`. Rejects like `bodyOf`. Throws 400 for a repeated field. */
export async function takeForm(req: Request, ...how: Tail<Parameters<typeof bodyOf>>): Promise<Form> {
  const bytes = await bodyOf(req, ...how);
  const pairs = [...new URLSearchParams(bytes.toString('utf8'))];
  const fields = new Map(pairs);
  if (pairs.length > MAX_FIELDS || fields.size !== pairs.length) {
    throw new Problem(400, 'invalid_request', 'This form is not from this console: reload the page.');
  }
  const form = new Form(fields);
  forms.set(req, form);
  return form;
}

/** The form read by `takeForm`. */
export function formOf(req: Request): Form {
  return forms.get(req) ?? new Form(new Map());
}
