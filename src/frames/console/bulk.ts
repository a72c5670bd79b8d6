// One action on many rows of a list: on the chosen rows, or on all rows within the filters. Each row has its own
// result.
import { type Request, type Response } from 'express';
import { invalid } from '../api/http/problem.js';
import { NOTE_MAX } from '../api/http/rules.js';
import { type Page, type PageRequest } from '../../shared/domain/page.js';
import { sessionOf } from './console.guard.js';
import { hiddenFields } from './form-fields.js';
import { type Form, formOf } from './form.js';
import { type Html, html, type Piece } from './html.js';
import { formToken, sendPage } from './layout.js';
import { type Filter } from './list.js';
import { type Section } from './navigation.js';
import { type Session } from './session.js';
import { inputField, orAgain, type Typed } from './typed.js';

/** The HTML id of the form with the boxes. */
const FORM = 'bulk';
const PICK = 'pick-';
/** The most items in one request for "all matches": a few seconds of work. */
const BATCH = 50;

/** The result of one item. */
export type Done = { readonly id: string; readonly ok: boolean; readonly said: Piece };

/** The buttons of a form for many rows. `hint` explains the note. The action `neededFor` requires a note. */
export type Acts = {
  readonly acts: readonly { readonly value: string; readonly label: string }[];
  readonly hint: string;
  readonly neededFor: string | null;
};

export function pickBox(id: string, label: string, typed: Typed): Html {
  const name = PICK + id;
  return html`<input
    type="checkbox"
    name="${name}"
    form="${FORM}"
    aria-label="Choose: ${label}"
    ${typed.has(name) && html`checked`}
  />`;
}

/**
 * Draws the buttons for an action on many rows.
 * @param values the list's filters, and `from`, its page: the form sends them too, for an action on all matches, and to
 * draw the list again
 */
export function bulkForm(
  session: Session,
  path: string,
  { acts, hint, neededFor }: Acts,
  { values, typed }: { readonly values: Readonly<Record<string, string>>; readonly typed: Typed },
): Html {
  return html`<form class="card bulk" id="${FORM}" action="${path}/bulk" method="post">
    ${formToken(session)} ${hiddenFields(values)}
    <fieldset>
      <legend>Many at once</legend>
      <p hidden>
        <label><input type="checkbox" data-choose-all="${FORM}" /> Choose all on this page</label>
        <span class="dim" data-chosen aria-live="polite"></span>
      </p>
      <p>
        <label
          ><input type="checkbox" name="all" value="yes" ${typed.has('all') && html`checked`} /> All rows within the
          filters, on every page</label
        >
      </p>
      ${inputField(
        typed,
        { name: 'note', label: 'Note', hint },
        html`maxlength="${NOTE_MAX}" autocomplete="off" ${neededFor !== null && html`required`}`,
      )}
    </fieldset>
    <p class="buttons">
      ${acts.map(
        (a) =>
          html`<button name="act" value="${a.value}" class="quiet" ${a.value !== neededFor && html`formnovalidate`}>
            ${a.label}
          </button>`,
      )}
    </p>
  </form>`;
}

type Many<A extends string, N extends string> = {
  readonly section: Section;
  readonly path: string;
  readonly acts: readonly { readonly value: A }[];
  readonly filters: readonly (Filter & { readonly name: N })[];
  readonly note: (form: Form, act: A) => string;
  /** Finds the rows within the filters that still wait for an action. */
  readonly matching: (values: Partial<Record<N, string>>, page: PageRequest) => Promise<Page<{ readonly id: string }>>;
  /** Carries out the action on each item, with an audit row for each. A refused item does not stop the next items. */
  readonly act: (ids: readonly string[], act: A, note: string) => Promise<readonly Done[]>;
  readonly back: Html;
  /** Draws the list of a refused form again. */
  readonly again: () => Promise<void>;
};

/**
 * Carries out the action of `bulkForm` and sends the result of each item. For "all matches" each request handles one
 * batch.
 */
export async function actOnMany<A extends string, N extends string>(
  req: Request,
  res: Response,
  many: Many<A, N>,
): Promise<void> {
  await orAgain(req, () => sendResults(req, res, many), many.again);
}

async function sendResults<A extends string, N extends string>(
  req: Request,
  res: Response,
  many: Many<A, N>,
): Promise<void> {
  const form = formOf(req);
  const act = many.acts.find((a) => a.value === form.text('act'))?.value;
  if (act === undefined) throw invalid('act', 'must be chosen');
  const note = many.note(form, act);
  const given = many.filters.map(({ name }) => [name, form.text(name)]).filter(([, value]) => value !== '');
  // safe cast: the keys are the names of the filters
  const values = Object.fromEntries(given) as Partial<Record<N, string>>;
  const from = { limit: BATCH, cursor: form.text('cursor') === '' ? null : form.text('cursor') };
  const found = form.text('all') === 'yes' ? await many.matching(values, from) : null;
  const done = await many.act(found === null ? picked(form) : found.data.map(({ id }) => id), act, note);
  const soFar = stepsBefore(form) + done.length;
  const remaining = found?.nextCursor ?? null;
  const again = { ...values, all: 'yes', act, note, cursor: remaining ?? '', so_far: String(soFar) };
  const more = remaining === null ? null : goOn(sessionOf(req), many.path, again);
  const body = report(done, soFar, more, many.back);
  sendPage(req, res, { title: 'Results', section: many.section, body });
}

/** The number of items done by earlier requests, from a hidden field. */
function stepsBefore(form: Form): number {
  const said = form.text('so_far');
  return /^\d{1,9}$/.test(said) ? Number(said) : 0;
}

/** The ids of the chosen rows. Drops any text without the form of an id. */
function picked(form: Form): readonly string[] {
  return form.names(PICK).filter((id) => /^[a-z]{2,4}_[0-9A-Za-z-]{1,80}$/.test(id));
}

/**
 * Shows each result. `soFar`: the number of items done in this request and the earlier ones. `more`: a form to continue
 * with the remaining items.
 */
function report(done: readonly Done[], soFar: number, more: Html | null, back: Html): Html {
  const failed = done.filter((d) => !d.ok);
  const well = done.length - failed.length;
  const said =
    done.length === 0
      ? 'There were no rows to act on. Crossbill did nothing.'
      : `${well} of ${done.length} done${failed.length > 0 ? `; ${failed.length} could not be done` : ''}.${soFar > done.length ? ` ${soFar} so far, with the earlier steps.` : ''}`;
  return html`<p class="message ${failed.length > 0 || done.length === 0 ? '' : 'good'}" role="status">${said}</p>
    ${more}
    <ul class="items">
      ${[...failed, ...done.filter((d) => d.ok)].map((d) => html`<li class="only"><div>${d.said}</div></li>`)}
    </ul>
    <p>${back}</p>`;
}

/** Draws a form to continue with the next batch. */
function goOn(session: Session, path: string, fields: Readonly<Record<string, string>>): Html {
  return html`<form action="${path}/bulk" method="post">
    ${formToken(session)} ${hiddenFields(fields)}
    <p class="buttons"><button>Go on with the rest</button></p>
  </form>`;
}
