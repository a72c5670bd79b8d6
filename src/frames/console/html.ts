// Makes the console's HTML: a tagged template escapes every value except `Html`.

/** A text that is safe to send as HTML. Only the template `html` makes such a text. */
export class Html {
  readonly #text: string;

  constructor(text: string, made: typeof BY_TEMPLATE) {
    if (made !== BY_TEMPLATE) throw new Error('HTML is made by the template alone');
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}
const BY_TEMPLATE = Symbol('made by the template');

/** A value inside `html`. The template leaves out null, undefined and false, so `${when && html`…`}` works. */
export type Piece = Html | string | number | bigint | null | undefined | false | readonly Piece[];

/** Builds HTML from a template and escapes its values. Attribute values must stand in double quotes. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  let out = parts[0] ?? '';
  pieces.forEach((piece, i) => {
    out += textOf(piece) + (parts[i + 1] ?? '');
  });
  return new Html(out, BY_TEMPLATE);
}

export const nothing = html``;

function textOf(piece: Piece): string {
  if (piece === null || piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.toString();
  if (typeof piece === 'object') return piece.map(textOf).join('');
  return escaped(String(piece));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};
// Control characters, marks of writing direction, and halves of surrogate pairs. A text with these characters could
// look like another text.
const DECEIVING = /[^\P{Cc}\n\t]|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu;

function escaped(text: string): string {
  return text
    .replace(/[&<>"'`]/g, (c) => ENTITIES[c] ?? '')
    .replace(DECEIVING, (c) => `[U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`);
}
