// Shows single values: money with its currency, times in UTC, ids with a copy button, statuses as words.
import { grouped, sayMoney } from '../../shared/domain/money.js';
import { type Html, html, nothing, type Piece } from './html.js';

/** Shows a count, such as "12,408". */
export function count(count: number): string {
  return grouped(String(count));
}

/** Shows money as text: "1,299.00 USD". */
export function moneyText(minor: bigint, currency: string): string {
  return sayMoney({ minor, currency });
}

/** Shows an amount: "1,299.00 USD", or "unknown". */
export function amount(minor: bigint | null, currency: string | null): Html {
  if (minor === null || currency === null) return html`<span class="dim">unknown</span>`;
  return html`<span class="money">${moneyText(minor, currency)}</span>`;
}

/** Shows a value with its heading. The heading is visible only on a phone, because tables have no heading row there. */
export function headed(heading: string, value: Piece): Html {
  return html`<span class="on-phone">${heading} </span>${value}`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Shows a day: "22 Nov 2026", in UTC. */
export function day(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** Shows a month: "November 2026", in UTC. */
export function month(at: Date): string {
  return at.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}

/**
 * Shows a time to the minute in UTC. The console's script turns the time into the reader's local time. The tooltip
 * shows the exact time in UTC.
 */
export function time(at: Date | null, none = 'never'): Html {
  if (at === null) return html`<span class="dim">${none}</span>`;
  const iso = at.toISOString();
  const exact = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return html`<time datetime="${iso}" title="${exact}">${day(at)}, ${clock(at)} UTC</time>`;
}

/** Shows the time of day: "03:40", in UTC. */
export function clock(at: Date): string {
  return at.toISOString().slice(11, 16);
}

/** Shows a duration: "3 minutes", in the largest fitting unit, rounded down. */
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

/** Shows an id. The console's script adds a copy button. */
export function id(text: string | null): Html {
  return text === null ? html`<span class="dim">none</span>` : html`<code class="id" data-copy>${text}</code>`;
}

/** Shows an id in a list. The console's script replaces the id with a copy button. */
export function copyId(text: string | null): Html {
  return text === null ? nothing : html`<code class="id" data-copy="id">${text}</code>`;
}

/** Shows a name from outside. `bdi` keeps its writing direction from changing the text around it. */
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

/**
 * Shows a status as a word; its colour only repeats the word.
 * @param noun the thing with the status, if no heading names it
 */
export function status(word: string, noun?: string): Html {
  // The MoR writes some statuses in capitals: PAYABLE.
  const text = words(/^[A-Z_]+$/.test(word) ? word.toLowerCase() : word);
  return toned(TONES[word] ?? 'calm', noun === undefined ? text : `${noun}: ${text}`);
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

/**
 * Tells whether Stripe shows a payment or a refund. `stage`: the stage of the payment's mark, or of the refund's copy
 * on Stripe.
 */
export function shownOnStripe(stage: string): Html {
  const [tone, text] = ON_STRIPE[stage] ?? ['wait', 'on its way'];
  return toned(tone, text);
}

/**
 * Turns a code into words: `double_payment` is "double payment", `requestId` "request id", and `mor_receivable` "MoR
 * receivable".
 */
export function words(name: string): string {
  return name
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)
    .replace(/\bmor\b/g, 'MoR'); // must be the last step: the step before would split the capitals of "MoR"
}

const BILLING: Readonly<Record<string, string>> = {
  subscription_create: 'new subscription',
  subscription_cycle: 'renewal',
  subscription_update: 'change of the subscription',
  subscription_threshold: 'usage threshold',
  subscription: 'subscription',
  manual: 'made by hand',
};

/** Stripe's reason for an invoice (`billing_reason`), in plain words. */
export function billingReason(reason: string | null): Html {
  return foreign(reason === null ? null : (BILLING[reason] ?? words(reason)));
}

/** Capitalizes the first letter: "Double payment". */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `customer.subscription.updated` becomes "Customer subscription updated". */
export function eventWords(type: string): string {
  return type === '' ? 'Without a type' : capital(words(type.replaceAll('.', ' ')));
}

/** Shows a dotted name such as `customer.subscription.updated`. The line may break at each dot. */
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

/** Links to an invoice, by the number on the customer's copy, or by its id if it has no number yet. */
export function invoiceNumberLink(id: string, number: string | null | undefined): Html {
  const path = `/console/invoices/${encodeURIComponent(id)}`;
  return typeof number === 'string'
    ? html`<a class="whole" href="${path}" title="${id}">${number}</a>`
    : link(path, id);
}

/** Shows the amount as a link to its object. A screen reader reads the id too. */
export function moneyLink(folder: string, id: string, minor: bigint | null, currency: string | null): Html {
  return html`<a href="/console/${folder}/${encodeURIComponent(id)}" title="${id}"
    >${amount(minor, currency)}<span class="unseen"> ${id}</span></a
  >`;
}

/**
 * Links to a customer.
 * @param name the name at Stripe; absent: the link shows the id
 */
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

/** The noun and the path of an object's page, by the object's id. Null if the object has no page. */
export function pathOf(ref: string): { readonly noun: string; readonly path: string } | null {
  const page = PAGES.find(([prefix]) => prefix.test(ref));
  return page === undefined ? null : { noun: page[1], path: `/console/${page[2]}${encodeURIComponent(ref)}` };
}

/** Shows an id of any kind, as a link if its object has a page. */
export function reference(ref: string): Html {
  const page = pathOf(ref);
  return page === null ? html`<code class="id">${ref}</code>` : link(page.path, ref);
}

/** Draws a list of names and values. Leaves out null rows. */
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
