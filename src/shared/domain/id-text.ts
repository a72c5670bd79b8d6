// Checks whether a text can be an id. The text comes from a person's keyboard or from a spreadsheet.

const MAX_ID = 255;

/** Lost or broken characters: control characters, half surrogate pairs, and the replacement character. */
const BROKEN = /[\p{Cc}\p{Cs}\ufffd]/u;
/**
 * Invisible characters: zero-width marks, soft hyphens, fillers, the empty Braille cell, line and paragraph separators.
 */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u2028\u2029]/u;
const ODD_BLANK = /[^\S ]/;
/**
 * Quotes around an id. `="mc_1"` and `'mc_1` stop a spreadsheet from changing the cell. A document adds other quotes.
 */
const MARKED = /^[='"`“”„‘’«»]|["“”„‘’«»]$/u;
/** `1.23457E+16`, `1,23457E+16`, `4711.0`: the spreadsheet lost digits, and nobody can restore them. */
const CUT_NUMBER = /^[+-]?\d+(?:[.,]\d+)?E[+-]\d+$|^[+-]?\d+[.,]0+$/i;
/** Errors of a spreadsheet cell: `#REF!`, `#DIV/0!`, `#N/A`, `#NV`, `Err:502`, and the `####` of a narrow column. */
const CELL_ERROR = /^#(?:[\p{Lu}\d/_]+[!?]?|#+)$|^Err:\d+$/u;
const NOTHING =
  /^(?:null|nil|none|undefined|nan|n\/?a|true|false|\\N|[-–—.?/]+|[<([](?:null|none|empty|blank)[>)\]])$|^\[object /i;

/**
 * Returns the reason why the text cannot be an id. Null: the text can be an id. The reason never quotes the text, so a
 * page can show the reason next to the name of the field.
 */
export function whatIsWrongWithId(text: string): string | null {
  if (text.length < 1 || text.length > MAX_ID) return `must have 1 to ${MAX_ID} characters`;
  if (BROKEN.test(text)) return 'has control characters or broken characters: copy the id again';
  if (UNSEEN.test(text)) return 'has invisible characters: type the id, or copy it again';
  if (text !== text.trim() || ODD_BLANK.test(text)) return 'has a blank at the start or end, or an unusual blank';
  if (MARKED.test(text)) return 'has the marks of a spreadsheet or quotes around it: write the id alone';
  if (CUT_NUMBER.test(text))
    return 'is a number cut short by a spreadsheet: format the column as text, and paste the ids again';
  if (CELL_ERROR.test(text)) return 'is the error of a spreadsheet cell';
  if (NOTHING.test(text)) return 'is a word for an empty value: write the id';
  return null;
}
