// Many rows of a list at once: chosen by their boxes, or all that match; done one by one, and told by item.
import { hiddenFields } from './form-fields.js';
import { type Form } from './form.js';
import { type Html, html, type Piece } from './html.js';
import { formToken } from './layout.js';
import { type Session } from './session.js';

/** The form that the boxes of a list belong to. */
const FORM = 'bulk';
const PICK = 'pick-';

/** What became of one item. */
export type Done = { readonly id: string; readonly ok: boolean; readonly said: Piece };

export function pickBox(id: string, label: string): Html {
  return html`<input type="checkbox" name="${PICK}${id}" form="${FORM}" aria-label="Choose: ${label}" />`;
}

/** How many earlier steps have gone through. */
export function stepsBefore(form: Form): number {
  const said = form.text('so_far');
  return /^\d{1,9}$/.test(said) ? Number(said) : 0;
}

/** The ids whose boxes were ticked; what is no id of ours is none of them. */
export function picked(form: Form): readonly string[] {
  return form.names(PICK).filter((id) => /^[a-z]{2,4}_[0-9A-Za-z-]{1,80}$/.test(id));
}

export type BulkAct = { readonly value: string; readonly label: string; readonly danger?: boolean };

/** @param fields what the list was filtered by, for `all that match`; null: only what is chosen. */
export function bulkForm(
  session: Session,
  action: string,
  acts: readonly BulkAct[],
  note: { readonly hint: string; readonly neededFor: string | null },
  fields: Readonly<Record<string, string>> | null,
): Html {
  return html`<form class="card bulk" id="${FORM}" action="${action}" method="post">
    ${formToken(session)} ${hiddenFields(fields ?? {})}
    <fieldset>
      <legend>Many at once</legend>
      <p hidden>
        <label><input type="checkbox" data-choose-all="${FORM}" /> Choose all on this page</label>
        <span class="dim" data-chosen aria-live="polite"></span>
      </p>
      ${
        fields !== null &&
        html`<p>
          <label><input type="checkbox" name="all" value="yes" /> All that match the filters, on every page</label>
        </p>`
      }
      <p>
        <label for="bulk-note">Note <span class="hint">${note.hint}</span></label>
        <input
          id="bulk-note"
          name="note"
          maxlength="1000"
          autocomplete="off"
          ${note.neededFor !== null && html`required`}
        />
      </p>
    </fieldset>
    <p class="buttons">
      ${acts.map(
        (a) =>
          html`<button
            name="act"
            value="${a.value}"
            class="${a.danger === true ? 'danger' : 'quiet'}"
            ${a.value !== note.neededFor && html`formnovalidate`}
          >
            ${a.label}
          </button>`,
      )}
    </p>
  </form>`;
}

/** What became of each, and the way on. `soFar`: with those of earlier steps. `more`: a form that goes on with the rest; null: there is none. */
export function bulkReport(done: readonly Done[], soFar: number, more: Html | null, back: Html): Html {
  const failed = done.filter((d) => !d.ok);
  const well = done.length - failed.length;
  const said =
    done.length === 0
      ? 'Nothing was chosen, and nothing was done.'
      : `${well} of ${done.length} done${failed.length > 0 ? `; ${failed.length} could not be done` : ''}.${soFar > done.length ? ` ${soFar} so far, with the steps before.` : ''}`;
  return html`<p class="message ${failed.length > 0 || done.length === 0 ? '' : 'good'}" role="status">${said}</p>
    ${more}
    <ul class="items">
      ${[...failed, ...done.filter((d) => d.ok)].map((d) => html`<li class="only"><div>${d.said}</div></li>`)}
    </ul>
    <p>${back}</p>`;
}

/** A batch of all that match is done; this goes on with the next. */
export function goOn(session: Session, action: string, fields: Readonly<Record<string, string>>): Html {
  return html`<form action="${action}" method="post">
    ${formToken(session)} ${hiddenFields(fields)}
    <p class="buttons"><button>Go on with the rest</button></p>
  </form>`;
}
