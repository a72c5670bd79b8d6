// Checks a request body against its class and against the conditions between its fields, before anything is sent.
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';

export type FieldError = { readonly field: string; readonly message: string };

/** `code` is the one the MoR would answer for this mistake. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string; readonly errors: readonly FieldError[] };

/** A broken condition between fields; `code` where the document has one of its own for it. */
export type BrokenCondition = FieldError & { readonly code?: string };

const MAX_ERRORS = 100;
const NOT_A_FIELD = 'is not a field of this request';

/**
 * Takes a parsed JSON body apart. Unknown fields are errors: nothing that nobody checked is passed on. Null counts as left
 * out and is dropped. The conditions are asked only once every single field is right. `code` is used where a condition names
 * none. Never throws.
 */
export function checkRequest<T extends object>(
  type: new () => T,
  body: unknown,
  code: string,
  conditions: (request: T) => readonly BrokenCondition[] = () => [],
): Checked<T> {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    return { ok: false, code, errors: [{ field: 'body', message: 'must be a JSON object' }] };
  }
  try {
    const never = neverField(body, '');
    if (never !== null) return { ok: false, code, errors: [{ field: never.slice(0, 200), message: NOT_A_FIELD }] };
    const request = plainToInstance(type, withoutNulls(body));
    const found = validateSync(request, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
    const errors = found.flatMap((one) => flatten(one, '')).slice(0, MAX_ERRORS);
    if (errors.length > 0) return { ok: false, code, errors };
    const broken = conditions(request);
    if (broken.length === 0) return { ok: true, value: request };
    const same = broken.filter((one) => one.code === broken[0]?.code); // one answer has one code
    return {
      ok: false,
      code: broken[0]?.code ?? code,
      errors: same.slice(0, MAX_ERRORS).map(({ field, message }) => ({ field, message })),
    };
  } catch {
    // Nesting so deep that the stack ends; nothing else in here throws.
    return { ok: false, code, errors: [{ field: 'body', message: 'could not be read' }] };
  }
}

/** A copy without null members, at every depth. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member)]));
}

/** Where the first member stands whose name no field can have: what every object has, class-transformer leaves out without a word. Null: nowhere. */
function neverField(value: unknown, parent: string): string | null {
  if (value === null || typeof value !== 'object') return null;
  const inList = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    const path = pathOf(parent, name, inList);
    if (!inList && Object.hasOwn(Object.prototype, name)) return path;
    const inner = neverField(member, path);
    if (inner !== null) return inner;
  }
  return null;
}

function pathOf(parent: string, name: string, inList: boolean): string {
  if (inList) return `${parent}[${name}]`;
  return parent === '' ? name : `${parent}.${name}`;
}

function flatten(error: ValidationError, parent: string): FieldError[] {
  const name = error.property === '' ? '""' : error.property; // a member may have the empty name, and is named all the same
  const field = pathOf(parent, name, /^\d+$/.test(name));
  const constraints = Object.entries(error.constraints ?? {});
  if (constraints.length === 0) return (error.children ?? []).flatMap((child) => flatten(child, field));
  const unknown = constraints.some(([name]) => name === 'whitelistValidation');
  const message = unknown ? NOT_A_FIELD : (constraints[0]?.[1] ?? 'is not valid');
  return [{ field: field.slice(0, 200), message }];
}
