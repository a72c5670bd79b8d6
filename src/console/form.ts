// What a posted form says: plain fields, each once, read only after its sender is known to be a page of ours.
import { type Request } from 'express';
import { Problem } from '../api/http/problem.js';

const MAX_FIELDS = 20;

/** The fields of a form. Reading one that is not there gives an empty text, as an empty input does. */
export class Form {
  readonly #fields: ReadonlyMap<string, string>;

  constructor(fields: ReadonlyMap<string, string>) {
    this.#fields = fields;
  }

  text(name: string): string {
    return this.#fields.get(name) ?? '';
  }
}

const forms = new WeakMap<Request, Form>();

/**
 * Takes the body off the request, so that the API's reader of JSON finds nothing there, and keeps its fields.
 * Throws 415 for another content type: a plain-text form is how other sites smuggle JSON.
 */
export function takeForm(req: Request): Form {
  const raw: unknown = req.body;
  req.body = undefined;
  const bytes = Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(req.headers['content-type'] ?? '')) {
    throw new Problem(415, 'unsupported_media_type', 'The console takes only its own forms.');
  }
  const pairs = [...new URLSearchParams(bytes.toString('utf8'))];
  const fields = new Map(pairs);
  if (pairs.length > MAX_FIELDS || fields.size !== pairs.length) {
    throw new Problem(400, 'invalid_request', 'This form is not one of ours.');
  }
  const form = new Form(fields);
  forms.set(req, form);
  return form;
}

/** The form of a request that was let in. */
export function formOf(req: Request): Form {
  return forms.get(req) ?? new Form(new Map());
}
