// Fields shared by several forms.
import { type Html, html } from './html.js';
import { formToken } from './layout.js';
import { type Session } from './session.js';
import { inputField, type Typed } from './typed.js';

export function hiddenFields(values: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

/** Hidden fields with the session's token and an idempotency key: Crossbill carries out a repeated form once. */
export function requestFields(session: Session, typed: Typed): Html {
  return html`${formToken(session)}${hiddenFields({ key: typed.key() })}`;
}

/** Draws the field for the customer's country. The MoR collects under the tax law of this country. */
export function countryField(typed: Typed, label: string, hint: string, proposed: string): Html {
  const remaining = html`required maxlength="2" pattern="[A-Za-z]{2}" autocomplete="off"`;
  return inputField(typed, { name: 'jurisdiction', label, hint }, remaining, proposed);
}
