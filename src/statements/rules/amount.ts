// Amounts as a statement writes them: with a comma, with a dot, or in smallest units. What could be read in two ways is refused.
import { decimalsOf, MAX_MINOR } from '../../domain/money.js';
import { type AmountStyle } from '../../domain/statement.js';

export type ReadAmount = { readonly ok: true; readonly minor: bigint } | { readonly ok: false; readonly why: string };

const no = (why: string): ReadAmount => ({ ok: false, why });

/** Thousands: a plain, no-break or narrow space, an apostrophe, and the sign that is not the decimal one. */
const GROUPING = { dot: " \u00a0\u202f'\u2019,", comma: " \u00a0\u202f'\u2019.", minor: '' } as const;
const POINT = { dot: '.', comma: ',', minor: '' } as const;

/**
 * Exact, nothing is rounded: more decimals than the currency has must be zeros. A minus stands in front or behind (also U+2212), or the
 * amount is in brackets. Thousands are in groups of three, all by one sign: "1,23" is no amount of style `dot`.
 */
export function readAmount(text: string, style: AmountStyle, currency: string): ReadAmount {
  const shown = JSON.stringify(text.slice(0, 40));
  const { digits, negative } = unsigned(text.trim());
  const point = POINT[style];
  const parts = point === '' ? [digits] : digits.split(point);
  const [whole = '', fraction = ''] = parts;
  if (parts.length > 2 || (parts.length === 2 && !/^\d{1,12}$/.test(fraction))) return no(wanted(shown, style));
  const plain = ungrouped(whole, GROUPING[style]);
  if (plain === null) return no(wanted(shown, style));
  const decimals = style === 'minor' ? 0 : decimalsOf(currency);
  const kept = fraction.replace(/0+$/, '');
  if (kept.length > decimals)
    return no(`the amount ${shown} has more decimals than ${currency}, which has ${decimals}`);
  const minor = BigInt(plain + (style === 'minor' ? '' : kept.padEnd(decimals, '0')));
  if (minor > MAX_MINOR) return no(`the amount ${shown} is too large`);
  return { ok: true, minor: negative ? -minor : minor };
}

function wanted(shown: string, style: AmountStyle): string {
  const like = { dot: '1,234.56 or 1234.56', comma: '1.234,56 or 1234,56', minor: '123456' }[style];
  return `the amount ${shown} is not written like ${like} (amounts: ${style})`;
}

/** At most one sign; two are no number. */
function unsigned(text: string): { readonly digits: string; readonly negative: boolean } {
  const found =
    /^(?:\((?<bracketed>[^()]*)\)|[-\u2212]\s?(?<before>.*)|\+(?<plus>.*)|(?<after>.*?)\s?[-\u2212])$/su.exec(
      text,
    )?.groups;
  if (found === undefined) return { digits: text, negative: false };
  const { bracketed, before, plus, after } = found;
  return { digits: bracketed ?? before ?? plus ?? after ?? '', negative: plus === undefined };
}

/** Digits without their grouping; null: not in groups of three by one sign. */
function ungrouped(text: string, signs: string): string | null {
  if (/^\d{1,18}$/.test(text)) return text;
  const [head = '', sign = ''] = /^\d{1,3}(\D)/.exec(text) ?? [];
  if (head === '' || !signs.includes(sign)) return null;
  const groups = text.split(sign);
  const fine = groups.length <= 6 && groups.every((g, i) => (i === 0 ? /^\d{1,3}$/ : /^\d{3}$/).test(g));
  return fine ? groups.join('') : null;
}
