// Changes single lines of a settings file.
import { parseEnv } from 'node:util';
import { CliError, EXIT } from '../exit-codes.js';

/** Reads the settings in a text. Leaves out empty values and <angle brackets>. */
export function valuesOf(text: string): Readonly<Record<string, string>> {
  const set = Object.entries(parseEnv(text)).filter(([, value = '']) => value !== '' && !/<[^<>]*>/.test(value));
  return Object.fromEntries(set.map(([name, value = '']) => [name, value]));
}

/**
 * Sets `name` on the line in force, or on a commented line, or on a new last line. Every other setting stays unchanged.
 * The parser of the start decides which line that is: a line may also stand inside a quoted value.
 */
export function withSetting(text: string, name: string, value: string): string {
  const existing = text.matchAll(new RegExp(String.raw`^[ \t]*(export[ \t]+)?${name}[ \t]*=[^\r\n]*`, 'gm'));
  const commented = text.matchAll(new RegExp(String.raw`^[ \t]*#[ \t]*${name}[ \t]*=[^\r\n]*`, 'gm'));
  const places = [...[...existing].reverse(), ...commented].map(({ index, 0: old }) => [index, old.length] as const);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  const others = othersIn(text, name);
  const put = ([at, length]: readonly [number, number], word: string): string =>
    at === text.length
      ? `${text}${end}${name}=${word}\n`
      : text.slice(0, at) + `${name}=${word}` + text.slice(at + length);
  const place = [...places, [text.length, 0] as const].find((one) => {
    const trial = put(one, `trial-${text.length}`);
    return parseEnv(trial)[name] === `trial-${text.length}` && othersIn(trial, name) === others;
  });
  if (place !== undefined) return put(place, quoted(value));
  throw new CliError(EXIT.failed, 'env_file', `Crossbill cannot set ${name} in this settings file: a quote is open.`);
}

/** All other settings. Node 20 takes a comment in the first line for a name. */
function othersIn(text: string, name: string): string {
  return JSON.stringify(Object.entries(parseEnv(text)).filter(([other]) => other !== name && !other.startsWith('#')));
}

/** Quotes a value if necessary: without quotes the parser would cut or change a value with a `#`, quote or space. */
function quoted(value: string): string {
  if (/^[^\s#'"`\\]*$/.test(value)) return value;
  const mark = ["'", '"', '`'].find((m) => !value.includes(m));
  if (mark === undefined || value.includes('\n')) {
    throw new CliError(EXIT.usage, 'env_file', 'A settings file cannot hold this value: it has every kind of quote.');
  }
  return mark + value + mark;
}
