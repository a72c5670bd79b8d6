// The console of a whole daemon. The target follows its links to every page and form.
import fc from 'fast-check';
import { MARKUP, oddText } from '../inputs/texts.js';
import { headerText, mustBeQuiet, type Remote, values } from '../remote-inputs.js';
import { type Rig } from '../rig.js';
import { must } from '../target.js';

type Form = { readonly action: string; readonly page: string; readonly fields: readonly string[] };
type Site = {
  readonly cookie: string;
  readonly token: string;
  readonly pages: readonly string[];
  readonly filters: readonly string[];
  readonly forms: readonly Form[];
};

const COOKIE = 'crossbill_console';
/** These addresses end the target's own session, so the target visits them last. */
const LAST_ACTS = /logout|sessions/;
const MOST_PAGES = 60;

async function siteOf(rig: Rig): Promise<Site> {
  const login = await fetch(`${rig.url}/console/login`, {
    method: 'POST',
    body: new URLSearchParams({ key: rig.key }),
    redirect: 'manual',
  });
  const cookie = new RegExp(`${COOKIE}=[^;]*`).exec(login.headers.getSetCookie().join('\n'))?.[0] ?? '';
  const pages = new Set(['/console']);
  const filters = new Set(['cursor', 'limit', 'q']);
  const forms = new Map<string, Form>();
  let token = '';
  for (const page of pages) {
    if (pages.size > MOST_PAGES) break;
    const text = await fetch(rig.url + page, { headers: { cookie } }).then((r) => r.text());
    token = /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? token;
    for (const [, href = ''] of text.matchAll(/href="(\/console[^"#]*)"/g))
      pages.add(href.replaceAll('&amp;', '&').split('?')[0] ?? href);
    for (const [form = ''] of text.matchAll(/<form[\s\S]*?<\/form>/g)) {
      const names = [...form.matchAll(/<(?:input|select|textarea)[^>]*\sname="([^"]+)"/g)].map(([, name = '']) => name);
      const action = /action="([^"]+)"/.exec(form)?.[1] ?? page;
      if (!/method="post"/i.test(form)) for (const name of names) filters.add(name);
      else if (!LAST_ACTS.test(action)) forms.set(action, { action, page, fields: names });
    }
  }
  const assets = [...pages].filter((p) => !p.includes('/assets/'));
  return { cookie, token, pages: assets, filters: [...filters], forms: [...forms.values()] };
}

type Visit = {
  readonly at: number;
  readonly post: boolean;
  readonly fields: readonly (readonly [number, string])[];
  readonly raw: string;
  readonly cookie: string;
};

export const consolePages: Remote = {
  name: 'http-console',
  what: 'every page and form of the console: filters, amounts, dates, searches, exports, cookies; nothing of it is markup on a page',
  on: (rig) => {
    let site: Site | null = null;
    return {
      name: 'http-console',
      what: consolePages.what,
      remote: true,
      inputs: fc
        .record({
          at: fc.nat(10_000),
          post: fc.boolean(),
          fields: fc.array(fc.tuple(fc.nat(40), values), { maxLength: 5 }),
          raw: fc.oneof(
            { weight: 5, arbitrary: fc.constant('') },
            oddText.filter((t) => t.length < 3_000),
          ),
          cookie: fc.oneof({ weight: 8, arbitrary: fc.constant('') }, headerText),
        })
        .map((visit) => JSON.stringify(visit)),
      prepare: async () => void (site ??= await siteOf(rig)),
      async check(text) {
        if (site === null) return;
        const { at, post, fields, raw, cookie } = JSON.parse(text) as Visit;
        const form = post ? site.forms[at % Math.max(1, site.forms.length)] : undefined;
        const names = form === undefined ? site.filters : form.fields;
        const given = new Map(
          fields.map(([n, value]) => [
            names[n % Math.max(1, names.length)] ?? 'strange',
            Buffer.from(value).toString(),
          ]),
        );
        if (form !== undefined && at % 5 !== 0) given.set('form_token', site.token);
        const query = `${new URLSearchParams([...given]).toString()}${raw === '' ? '' : `&${encodeURI(Buffer.from(raw).toString())}`}`;
        const path =
          form === undefined
            ? `${site.pages[at % site.pages.length] ?? '/console'}?${query.replaceAll('#', '')}`
            : form.action;
        const reply = await fetch(rig.url + path, {
          method: form === undefined ? 'GET' : 'POST',
          redirect: 'manual',
          headers: {
            cookie: cookie === '' ? site.cookie : `${site.cookie}; a=${cookie}`,
            ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin: rig.url }),
          },
          ...(form === undefined ? {} : { body: query }),
        });
        const page = await reply.text();
        const about = `${form === undefined ? 'GET' : 'POST'} ${path.slice(0, 300)}: ${reply.status}`;
        must(reply.status < 500 || reply.status === 502 || reply.status === 503, `${about} ${page.slice(0, 200)}`);
        must(
          !page.includes(MARKUP) || !/html/.test(reply.headers.get('content-type') ?? ''),
          `${about}: what was sent is markup on the page`,
        );
        const to = reply.headers.get('location');
        must(
          to === null || (to.startsWith('/console') && new URL(to, 'http://own.example').host === 'own.example'),
          `${about}: sent on to ${to}`,
        );
      },
      afterBatch: async () => mustBeQuiet(rig),
    };
  },
};
