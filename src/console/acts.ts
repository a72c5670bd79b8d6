// The top of a page about one thing: its amount, its fate, the reason, and the possible acts.
import { hiddenFields } from './form-fields.js';
import { type Html, html, type Piece } from './html.js';
import { formToken } from './layout.js';
import { type Session } from './session.js';

/** `said`: the sentence with the reason; its tone colours the edge and repeats the words. */
export function headline(
  sum: Piece,
  state: Piece,
  said: { readonly tone: 'good' | 'wait' | 'warn' | 'bad' | 'calm'; readonly text: string } | null,
  about: Piece,
): Html {
  return html`<div class="headline">
    <p class="sum">${sum} ${state}</p>
    ${said !== null && html`<p class="answer ${said.tone}"><bdi>${said.text}</bdi></p>`}
    <p class="about">${about}</p>
  </div>`;
}

/** A row of things to do; nothing when there are none. */
export function actRow(acts: readonly (Html | null)[]): Html | null {
  const shown = acts.filter((a) => a !== null);
  return shown.length === 0 ? null : html`<div class="acts" role="group" aria-label="Actions">${shown}</div>`;
}

/** A button with an immediate effect: for changes open to another change. */
export function actForm(
  session: Session,
  action: string,
  label: string,
  fields: Readonly<Record<string, string>> = {},
): Html {
  return html`<form action="${action}" method="post">
    ${formToken(session)}${hiddenFields(fields)}
    <button class="quiet">${label}</button>
  </form>`;
}

/** The way to a page with more questions before anything happens. */
export function actLink(path: string, label: string): Html {
  return html`<a class="button quiet" href="${path}">${label}</a>`;
}

/** A page outside of the console, not ours. Null unless the address is https. */
export function outsideLink(url: string | null, label: string): Html | null {
  if (url === null || !URL.canParse(url) || new URL(url).protocol !== 'https:') return null;
  return html`<a class="button quiet" href="${url}" target="_blank" rel="noopener noreferrer"
    >${label}<span class="unseen"> (opens in a new tab)</span></a
  >`;
}

/** Stripe's dashboard. `live` null: the API key does not tell its mode. */
export function stripeUrl(live: boolean | null, folder: 'invoices' | 'customers', id: string): string {
  return `https://dashboard.stripe.com/${live === false ? 'test/' : ''}${folder}/${encodeURIComponent(id)}`;
}

/** The parts of a page, and its story beside them where there is room, below them elsewhere. */
export function besides(parts: Html, story: Html): Html {
  return html`<div class="besides">
    <div>${parts}</div>
    <div>${story}</div>
  </div>`;
}

/** Details most readers do not need at first. Closed; an open one stays open while the page keeps itself fresh. */
export function fold(id: string, title: string, count: number | null, body: Piece): Html {
  return html`<details class="fold" id="${id}">
    <summary>
      <h2>${title}</h2>
      ${count !== null && html`<span class="dim">${count}</span>`}
    </summary>
    ${body}
  </details>`;
}

/** A text to copy whole. */
export function copyable(text: string): Html {
  return html`<code class="copyable" data-copy>${text}</code>`;
}
