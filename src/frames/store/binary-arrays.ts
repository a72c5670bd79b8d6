// Writes array parameters in PostgreSQL's binary format, as a Buffer. From a JavaScript array pg would make text with
// escapes, and write each body in hexadecimal digits.

// From pg_type.dat: the object ids of built-in types never change.
const BYTEA = 17;
const TEXT = 25;
const HEAD_BYTES = 20;

/** Makes a parameter of type `text[]`. */
export function textArray(values: readonly (string | null)[]): Buffer {
  let length = HEAD_BYTES;
  for (const value of values) length += 4 + (value === null ? 0 : Buffer.byteLength(value));
  const out = head(TEXT, values.length, length);
  let at = HEAD_BYTES;
  for (const value of values) {
    const bytes = value === null ? 0 : out.write(value, at + 4);
    out.writeInt32BE(value === null ? -1 : bytes, at);
    at += 4 + bytes;
  }
  return out;
}

/** Makes a parameter of type `bytea[]`. */
export function byteaArray(values: readonly Buffer[]): Buffer {
  let length = HEAD_BYTES;
  for (const value of values) length += 4 + value.length;
  const out = head(BYTEA, values.length, length);
  let at = HEAD_BYTES;
  for (const value of values) {
    at = out.writeInt32BE(value.length, at);
    at += value.copy(out, at);
  }
  return out;
}

/**
 * The header of the array, as `array_recv` reads it: the number of dimensions, a flag for nulls, the element type, then
 * the length and the first index of the one dimension.
 */
function head(type: number, count: number, length: number): Buffer {
  const out = Buffer.allocUnsafe(length);
  let at = out.writeInt32BE(1, 0);
  at = out.writeInt32BE(1, at);
  at = out.writeInt32BE(type, at);
  at = out.writeInt32BE(count, at);
  out.writeInt32BE(1, at);
  return out;
}
