// Fields shared by several forms.
import { newKey } from './form.js';
import { type Html, html } from './html.js';
import { formToken } from './layout.js';
import { type Session } from './session.js';

export function hiddenFields(values: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

/** Hidden fields with the session's token and an idempotency key: Crossbill carries out a repeated form once. */
export function requestFields(session: Session): Html {
  return html`${formToken(session)}${hiddenFields({ key: newKey() })}`;
}

/** Draws the field for the customer's country. The MoR collects under the tax law of this country. */
export function countryField(label: string, hint: string, value: string): Html {
  return html`<p>
    <label for="jurisdiction">${label} <span class="hint" id="jurisdiction-hint">${hint}</span></label>
    <input
      id="jurisdiction"
      name="jurisdiction"
      required
      maxlength="2"
      pattern="[A-Za-z]{2}"
      autocomplete="off"
      aria-describedby="jurisdiction-hint"
      value="${value}"
    />
  </p>`;
}
