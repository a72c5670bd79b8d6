// Parses `application/x-www-form-urlencoded` bodies with brackets (`a[b][0]=c`), the format of the Stripe API.
import { type Json, type JsonObject, isObject } from './json.js';

/**
 * `a[b]=1&c[0]=x&c[1]=y&d[]=z` becomes `{a:{b:"1"},c:["x","y"],d:["z"]}`. Every value stays a string. An object with
 * exactly the keys 0…n-1 becomes a list.
 */
export function parseForm(text: string): JsonObject {
  const root = emptyObject();
  for (const [name, value] of new URLSearchParams(text)) setPath(root, splitName(name), value);
  for (const key of Object.keys(root)) root[key] = listsIn(root[key] ?? null);
  return root;
}

/** The keys of one form name: `a[b][0]` gives `a`, `b`, `0`. An empty pair of brackets means the next index. */
function splitName(name: string): string[] {
  const open = name.indexOf('[');
  if (open <= 0 || !name.endsWith(']')) return [name];
  return [name.slice(0, open), ...name.slice(open + 1, -1).split('][')];
}

// An object without a prototype, so a field called `__proto__` is like any other field.
function emptyObject(): JsonObject {
  return Object.create(null) as JsonObject;
}

function setPath(root: JsonObject, path: readonly string[], value: string): void {
  let at = root;
  path.forEach((key, depth) => {
    const name = key === '' ? String(Object.keys(at).length) : key;
    if (depth === path.length - 1) {
      at[name] = value;
      return;
    }
    const below = at[name];
    const next = isObject(below) ? below : emptyObject();
    at[name] = next;
    at = next;
  });
}

function listsIn(value: Json): Json {
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  for (const key of keys) value[key] = listsIn(value[key] ?? null);
  const isList = keys.length > 0 && keys.every((_, i) => value[String(i)] !== undefined);
  return isList ? keys.map((_, i) => value[String(i)] ?? null) : value;
}
