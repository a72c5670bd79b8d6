// Single values on a page: money with its currency, times in UTC, ids to copy, statuses as words.
import { grouped, sayMoney } from '../domain/money.js';
import { type Html, html, nothing, type Piece } from './html.js';

/** "12,408": a number of things. */
export function count(n: number): string {
  return grouped(String(n));
}

/** "1,299.00 USD", as text. */
export function moneyText(minor: bigint, currency: string): string {
  return sayMoney({ minor, currency });
}

/** "1,299.00 USD"; "unknown" for an unknown amount. */
export function amount(minor: bigint | null, currency: string | null): Html {
  if (minor === null || currency === null) return html`<span class="dim">unknown</span>`;
  return html`<span class="money">${moneyText(minor, currency)}</span>`;
}

/** A value with its heading before it, visible only on a phone: its tables have no headings. */
export function headed(heading: string, value: Piece): Html {
  return html`<span class="on-phone">${heading} </span>${value}`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** "22 Nov 2026", in UTC. */
export function day(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** "November 2026", in UTC. */
export function month(at: Date): string {
  return at.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/** To the minute, in UTC; the script makes it the reader's own time, and pointing at it shows the exact time in UTC. */
export function time(at: Date | null, none = 'never'): Html {
  if (at === null) return html`<span class="dim">${none}</span>`;
  const iso = at.toISOString();
  const exact = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return html`<time datetime="${iso}" title="${exact}">${day(at)}, ${clock(at)} UTC</time>`;
}

/** "03:40", in UTC. */
export function clock(at: Date): string {
  return at.toISOString().slice(11, 16);
}

/** "3 minutes": the largest fitting unit, rounded down. */
export function duration(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ] as const;
  const [size, name] = units.find(([size]) => seconds >= size) ?? [1, 'second'];
  const n = Math.floor(seconds / size);
  return `${n} ${name}${n === 1 ? '' : 's'}`;
}

/** An id, with a button to copy it where scripts run. */
export function id(text: string | null): Html {
  return text === null ? html`<span class="dim">none</span>` : html`<code class="id" data-copy>${text}</code>`;
}

/** In a list: scripts put a button in the place of the id, to copy it. */
export function copyId(text: string | null): Html {
  return text === null ? nothing : html`<code class="id" data-copy="id">${text}</code>`;
}

/** A name from outside: its direction of writing stays its own. */
export function foreign(text: string | null): Html {
  return text === null || text === '' ? html`<span class="dim">none</span>` : html`<bdi>${text}</bdi>`;
}

type Tone = 'good' | 'wait' | 'warn' | 'bad' | 'calm';

const TONES: Readonly<Record<string, Tone>> = {
  ...tone(
    'good',
    'paid succeeded done confirmed clean agrees settled delivered ISSUED SETTLED PAID won renewed collected current',
  ),
  ...tone(
    'wait',
    'expected held marking received pending unknown requested running waiting proving begun processing planned awaiting_answer payment_link no_renewal_yet unconfirmed',
  ),
  ...tone('wait', 'reporting attaching referencing paying finalizing crediting draft requires_action REQUESTED'),
  ...tone(
    'warn',
    'open quarantined partially_refunded uncollectible incomplete action_needed revision_requested not_paid_yet ended',
  ),
  ...tone('bad', 'review parked failed refused denied differences lost dead REFUSED ISSUANCE_FAILED'),
};

function tone(of: Tone, words: string): Record<string, Tone> {
  return Object.fromEntries(words.split(' ').map((word) => [word, of]));
}

/** The word itself, with a colour repeating the word. @param noun of the status, if no heading names it */
export function status(word: string, noun?: string): Html {
  return toned(TONES[word] ?? 'calm', noun === undefined ? words(word) : `${noun}: ${words(word)}`);
}

function toned(tone: Tone, text: string): Html {
  return html`<span class="status ${tone}">${text}</span>`;
}

const ON_STRIPE: Readonly<Record<string, readonly [Tone, string]>> = {
  confirmed: ['good', 'yes'],
  done: ['good', 'yes'],
  none: ['calm', 'not yet'],
  closed: ['calm', 'not needed'],
  not_needed: ['calm', 'not needed'],
  held: ['wait', 'held'],
  parked: ['warn', 'no: a person decides'],
};

/** Whether Stripe shows a payment or a refund, by the stage of its mark or its mirror. */
export function shownOnStripe(stage: string): Html {
  const [tone, text] = ON_STRIPE[stage] ?? ['wait', 'on its way'];
  return toned(tone, text);
}

/** `double_payment` is "double payment", `requestId` "request id", and `mor_receivable` "MoR receivable". */
export function words(name: string): string {
  return name
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)
    .replace(/\bmor\b/g, 'MoR'); // last: its own capitals part no words
}

const BILLING: Readonly<Record<string, string>> = {
  subscription_create: 'new subscription',
  subscription_cycle: 'renewal',
  subscription_update: 'change of the subscription',
  subscription_threshold: 'usage threshold',
  subscription: 'subscription',
  manual: 'made by hand',
};

/** Why Stripe made an invoice (`billing_reason`), as people say it. */
export function billingReason(reason: string | null): Html {
  return foreign(reason === null ? null : (BILLING[reason] ?? words(reason)));
}

/** "Double payment": the first letter large. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `customer.subscription.updated` is "Customer subscription updated". */
export function eventWords(type: string): string {
  return type === '' ? 'Without a type' : capital(words(type.replaceAll('.', ' ')));
}

/** `customer.subscription.updated`: where there is no room it breaks at its joints. */
export function dotted(name: string): Html {
  if (name === '') return foreign(null);
  const joints = name.split(/(?<=[._])/);
  return html`<bdi>${joints.map((part, i) => html`${i > 0 && html`<wbr />`}${part}`)}</bdi>`;
}

const link = (path: string, text: string): Html => html`<a class="id" href="${path}" title="${text}">${text}</a>`;
export const linkTo = (folder: string, text: string | null): Html =>
  text === null ? html`<span class="dim">none</span>` : link(`/console/${folder}/${encodeURIComponent(text)}`, text);
const at = (folder: string) => (text: string | null) => linkTo(folder, text);

export const invoiceLink = at('invoices');
export const paymentLink = at('payments');
export const refundLink = at('refunds');
export const reviewLink = at('reviews');
export const eventLink = at('events');

/** An invoice by its number, as the customer reads it; by its id until it has one. */
export function invoiceNumberLink(id: string, number: string | null | undefined): Html {
  const path = `/console/invoices/${encodeURIComponent(id)}`;
  return typeof number === 'string'
    ? html`<a class="whole" href="${path}" title="${id}">${number}</a>`
    : link(path, id);
}

/** The amount as a link to its object; a screen reader hears the id too. */
export function moneyLink(folder: string, id: string, minor: bigint | null, currency: string | null): Html {
  return html`<a href="/console/${folder}/${encodeURIComponent(id)}" title="${id}"
    >${amount(minor, currency)}<span class="unseen"> ${id}</span></a
  >`;
}

/** @param name as Stripe has it; left out: the id stands for it */
export function customerLink(text: string | null, name?: string): Html {
  if (text === null) return html`<span class="dim">unknown</span>`;
  const path = `/console/customers/${encodeURIComponent(text)}`;
  return name === undefined
    ? link(path, text)
    : html`<a class="customer" href="${path}" title="${text}"><bdi>${name}</bdi></a>`;
}

const PAGES: readonly (readonly [prefix: RegExp, noun: string, path: string])[] = [
  [/^rev_/, 'review item', 'reviews/'],
  [/^(ref|rfnd)_/, 'refund', 'refunds/'],
  [/^(pmt|pay)_/, 'payment', 'payments/'],
  [/^i[eq]_/, 'event', 'events/'],
  [/^evt_/, 'event', 'events?event_id='],
  [/^msg_/, 'notification', 'notifications/'],
  [/^in_/, 'invoice', 'invoices/'],
];

/** The page of an object by its id; null: it has none. */
export function pathOf(ref: string): { readonly noun: string; readonly path: string } | null {
  const page = PAGES.find(([prefix]) => prefix.test(ref));
  return page === undefined ? null : { noun: page[1], path: `/console/${page[2]}${encodeURIComponent(ref)}` };
}

/** An id of any kind, linked to its page if there is one. */
export function reference(ref: string): Html {
  const page = pathOf(ref);
  return page === null ? html`<code class="id">${ref}</code>` : link(page.path, ref);
}

/** Names and values, without rows of null. */
export function facts(rows: readonly (readonly [string, Piece] | null)[]): Html {
  const shown = rows.filter((row) => row !== null);
  return html`<dl class="facts">
    ${shown.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

export function section(title: string, body: Piece): Html {
  const anchor = title.toLowerCase().replace(/[^a-z]+/g, '-');
  return html`<section aria-labelledby="${anchor}">
    <h2 id="${anchor}">${title}</h2>
    ${body}
  </section>`;
}
