// A browser without a face: keeps the console's cookie, posts forms, reads pages as text.
import { COOKIE } from '../../src/frames/console/session.js';

export type Seen = { readonly status: number; readonly headers: Headers; readonly text: string };

export class Visitor {
  cookie: string | null = null;

  constructor(readonly url: string) {}

  async get(path: string, headers: Record<string, string> = {}): Promise<Seen> {
    return this.#send('GET', path, headers);
  }

  /** Given headers replace the usual ones. */
  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Seen> {
    const usual = { 'content-type': 'application/x-www-form-urlencoded', origin: this.url };
    return this.#send('POST', path, { ...usual, ...headers }, new URLSearchParams(fields).toString());
  }

  async login(key: string): Promise<this> {
    const seen = await this.post('/console/login', { key });
    if (seen.status !== 303) throw new Error(`login: ${seen.status}`);
    return this;
  }

  /** A form of a page with all its hidden fields, by its action. */
  async form(page: string, action: string): Promise<Record<string, string>> {
    const { text } = await this.get(page);
    return fieldsOf(text, action);
  }

  async #send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Seen> {
    const res = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(this.cookie === null ? {} : { cookie: `${COOKIE}=${this.cookie}` }) },
      ...(body === undefined ? {} : { body }),
    });
    for (const line of res.headers.getSetCookie()) {
      const value = new RegExp(`^${COOKIE}=([^;]*)`).exec(line)?.[1];
      if (value !== undefined) this.cookie = value === '' ? null : value;
    }
    return { status: res.status, headers: res.headers, text: await res.text() };
  }
}

/** The hidden fields of the form with this action. */
export function fieldsOf(page: string, action: string): Record<string, string> {
  const form = page.split('<form').find((part) => part.includes(`action="${action}"`));
  if (form === undefined) throw new Error(`no form with action ${action}`);
  const inputs = (form.split('</form>')[0] ?? '').matchAll(/<input[^>]*type="hidden"[^>]*>/g);
  const fields: Record<string, string> = {};
  for (const [input] of inputs) {
    const name = /name="([^"]*)"/.exec(input)?.[1];
    if (name !== undefined) fields[name] = /value="([^"]*)"/.exec(input)?.[1] ?? '';
  }
  return fields;
}
