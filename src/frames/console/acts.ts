// The top of a page about one payment, refund or invoice: its amount, status, reason, and the possible actions.
import { hiddenFields } from './form-fields.js';
import { type Html, html, type Piece } from './html.js';
import { formToken } from './layout.js';
import { type Session } from './session.js';

/** Draws the amount, the status, and the reason as a sentence (`said`). The colour only repeats the sentence's tone. */
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

/** Draws a row of buttons and links. Null if there are none. */
export function actRow(acts: readonly (Html | null)[]): Html | null {
  const shown = acts.filter((a) => a !== null);
  return shown.length === 0 ? null : html`<div class="acts" role="group" aria-label="Actions">${shown}</div>`;
}

/** Draws a button with an immediate effect, for a change the operator can undo. */
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

/** Draws the last step of an action: a button to carry it out, and a link back. */
export function confirmForm(
  session: Session,
  { action, label, back }: { readonly action: string; readonly label: string; readonly back: string },
  fields: Readonly<Record<string, string>> = {},
): Html {
  return html`<form class="card" action="${action}" method="post">
    ${formToken(session)}${hiddenFields(fields)}
    <p class="buttons">
      <button class="danger">${label}</button>
      <a href="${back}">Cancel</a>
    </p>
  </form>`;
}

/** Draws a link to a page with further questions before the action. */
export function actLink(path: string, label: string): Html {
  return html`<a class="button quiet" href="${path}">${label}</a>`;
}

/** Draws a link to a page outside the console. Null unless the address is https. `first`: the page's first act. */
export function outsideLink(url: string | null, label: string, poll: 'first' | 'quiet' = 'quiet'): Html | null {
  if (url === null || !URL.canParse(url) || new URL(url).protocol !== 'https:') return null;
  return html`<a class="button ${poll}" href="${url}" target="_blank" rel="noopener noreferrer"
    >${label}<span class="unseen"> (opens in a new tab)</span></a
  >`;
}

/** The object's address in Stripe's dashboard. Null `live`: the key's mode is unknown, so Crossbill uses live mode. */
export function stripeUrl(live: boolean | null, folder: 'invoices' | 'customers', id: string): string {
  return `https://dashboard.stripe.com/${live === false ? 'test/' : ''}${folder}/${encodeURIComponent(id)}`;
}

/** Puts the timeline next to the page's parts, or below them on a narrow screen. */
export function besides(parts: Html, story: Html): Html {
  return html`<div class="besides">
    <div>${parts}</div>
    <div>${story}</div>
  </div>`;
}

/** Draws a closed section with details few readers need. An opened section stays open when the page refreshes. */
export function fold(id: string, title: string, count: number | null, body: Piece): Html {
  return html`<details class="fold" id="${id}">
    <summary>
      <h2>${title}</h2>
      ${count !== null && html`<span class="dim">${count}</span>`}
    </summary>
    ${body}
  </details>`;
}

/** Draws a text with a button to copy all of it. */
export function copyable(text: string): Html {
  return html`<code class="copyable" data-copy>${text}</code>`;
}
