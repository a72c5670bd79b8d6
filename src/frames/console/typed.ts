// A refused form, drawn again: the fields keep what the person typed, and each mistake stands at its field.
import { type Request } from 'express';
import { toProblem } from '../api/http/problem.filter.js';
import { type Problem } from '../api/http/problem.js';
import { type Form, formOf, isKey, newKey } from './form.js';
import { type Html, html, type Piece } from './html.js';
import { capital } from './show.js';

/** The texts and mistakes of a refused form. A fresh form has neither. */
export class Typed {
  readonly #placed = new Set<string>();

  constructor(
    private readonly form: Form | null,
    readonly problem: Problem | null,
  ) {}

  /** The text of a field: as the person typed it, or else the page's proposal. */
  text(name: string, proposed = ''): string {
    return this.form !== null && this.form.has(name) ? this.form.text(name) : proposed;
  }

  /** True if the person ticked the box. */
  has(name: string): boolean {
    return this.form?.has(name) ?? false;
  }

  /**
   * The mistake of a field. Null: there is none.
   * @param names the field's name, and its other names in the replies of the API and of the MoR
   */
  mistake(...names: readonly string[]): string | null {
    const found = this.problem?.errors.find(({ field }) => names.includes(field));
    if (found === undefined) return null;
    this.#placed.add(found.field);
    return `${capital(found.message).replace(/\.$/, '')}.`;
  }

  /**
   * The form's idempotency key. After a refusal the corrected form is a new request. Without a reply nobody knows whether
   * the request had an effect, so the form keeps its key.
   */
  key(): string {
    const key = this.form?.text('key') ?? '';
    return (this.problem?.getStatus() ?? 0) >= 500 && isKey(key) ? key : newKey();
  }

  /** The message above a refused form, after the form is drawn: it repeats no mistake that stands at a field. */
  message(): Html | null {
    if (this.problem === null) return null;
    const { errors, message, code } = this.problem;
    const isPlaced = errors.length > 0 && errors.every(({ field }) => this.#placed.has(field));
    return isPlaced
      ? html`<p class="message bad" role="alert">Crossbill did nothing yet. Correct the marked field.</p>`
      : html`<p class="message bad" role="alert"><bdi>${capital(message)}</bdi> <span class="dim">(${code})</span></p>`;
  }
}

const refused = new WeakMap<Request, Typed>();
const FRESH = new Typed(null, null);

/** The refused form that this request sent. A fresh form for every other request. */
export function typedOf(req: Request): Typed {
  return refused.get(req) ?? FRESH;
}

/**
 * Carries out a form's work. If Crossbill refuses the form, draws its page again with `again`. Throws the refusal if
 * that page no longer exists, and every unexpected error.
 */
export async function orAgain(req: Request, work: () => Promise<void>, again: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const problem = toProblem(error);
    if (problem.getStatus() >= 500 && error !== problem) throw error;
    refused.set(req, new Typed(formOf(req), problem));
    try {
      await again();
    } catch {
      throw error;
    }
  }
}

type About = {
  readonly name: string;
  readonly label: Piece;
  readonly hint?: Piece;
  /** Other names of the field in the replies of the API and of the MoR. */
  readonly also?: readonly string[];
};

/**
 * Draws a field of a form: its label, its hint, its input, and its mistake.
 * @param remaining the input's other attributes
 * @param proposed the text in a fresh form
 */
export function inputField(typed: Typed, about: About, remaining: Html, proposed = ''): Html {
  return fieldRow(
    typed,
    about,
    (marks) => html`<input ${marks} ${remaining} value="${typed.text(about.name, proposed)}" />`,
  );
}

/** Draws a field for a longer text. */
export function areaField(typed: Typed, about: About, remaining: Html): Html {
  return fieldRow(
    typed,
    about,
    (marks) => html`<textarea ${marks} rows="2" ${remaining}>${typed.text(about.name)}</textarea>`,
  );
}

/** Draws a choice. `options`: the values and their words, the proposed one first. */
export function choiceField(typed: Typed, about: About, options: readonly (readonly [string, string])[]): Html {
  const chosen = typed.text(about.name, options[0]?.[0]);
  return fieldRow(
    typed,
    about,
    (marks) =>
      html`<select ${marks}>
        ${options.map(([value, said]) => html`<option value="${value}" ${value === chosen && html`selected`}>${said}</option>`)}
      </select>`,
  );
}

function fieldRow(typed: Typed, { name, label, hint, also = [] }: About, draw: (marks: Html) => Html): Html {
  const mistake = typed.mistake(name, ...also);
  const says = [hint !== undefined && `${name}-hint`, mistake !== null && `${name}-mistake`].filter((x) => x !== false);
  const marks = html`id="${name}" name="${name}" ${says.length > 0 && html`aria-describedby="${says.join(' ')}"`}
  ${mistake !== null && html`aria-invalid="true" autofocus`}`;
  return html`<p>
    <label for="${name}"
      >${label} ${hint !== undefined && html`<span class="hint" id="${name}-hint">${hint}</span>`}</label
    >
    ${draw(marks)} ${mistakeNote(`${name}-mistake`, mistake)}
  </p>`;
}

/** The mistake below a field. */
export function mistakeNote(id: string, mistake: Piece): Html | null {
  return mistake === null || mistake === false ? null : html`<span class="mistake" id="${id}">${mistake}</span>`;
}
