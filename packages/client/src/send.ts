// Sends one call, and repeats it if a repeat does no harm.
import { CrossbillError, type FieldError } from './error.js';
import { type Fetch, type Signal } from './types.js';

/** If the server asks for a longer wait, the client does not wait. The error gives the caller the seconds. */
const LONGEST_WAIT_SECONDS = 60;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** The statuses of a short failure of the MoR or the daemon. */
const PASSING = new Set([502, 503, 504]);
/** These 502 errors last until an operator corrects the settings. */
const LASTING_CODES = new Set<string>(['mor_unauthorized']);

export interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: Fetch;
}

export interface Outgoing {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly body: string | null;
  readonly idempotencyKey: string | null;
  /**
   * False: a repeat could do something twice. The client then repeats only after a 429 with Retry-After, because such a
   * request surely had no effect.
   */
  readonly mayRepeat: boolean;
  readonly signal: Signal | undefined;
}

/** Returns the parsed body. Throws `CrossbillError`, or the signal's reason if the caller aborted the call. */
export async function send(settings: Settings, out: Outgoing): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    const done = await once(settings, out);
    if (done.ok) return done.value;
    const wait = pauseOf(done.error, out, tries);
    if (wait === null || tries >= settings.retries) throw done.error;
    await pause(wait, out.signal);
  }
}

type Done = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: CrossbillError };

async function once(settings: Settings, { method, path, body, idempotencyKey, signal }: Outgoing): Promise<Done> {
  const ended: AbortSignal | undefined = signal;
  ended?.throwIfAborted();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), settings.timeoutMs);
  const end = (): void => deadline.abort();
  ended?.addEventListener('abort', end);
  try {
    const reply = await settings.fetch(settings.baseUrl + path, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${settings.apiKey}`,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      },
      redirect: 'error', // the key must reach no other address
      signal: deadline.signal,
      ...(body === null ? {} : { body }),
    });
    return read(reply.status, await reply.text(), reply.headers, idempotencyKey);
  } catch (cause) {
    ended?.throwIfAborted();
    const timeout = deadline.signal.aborted;
    const code = timeout ? 'timeout' : 'connection_failed';
    const why = timeout ? `gave no answer in ${settings.timeoutMs} ms` : `could not be reached: ${reasonOf(cause)}`;
    const message = `Crossbill ${why} (${method} ${path}).`;
    return { ok: false, error: new CrossbillError({ code, status: null, message, idempotencyKey, cause }) };
  } finally {
    clearTimeout(timer);
    ended?.removeEventListener('abort', end);
  }
}

function read(
  status: number,
  text: string,
  headers: { get(name: string): string | null },
  idempotencyKey: string | null,
): Done {
  const isJson = (headers.get('content-type') ?? '').includes('json');
  const value = isJson ? parsed(text) : text;
  if (status >= 200 && status < 300 && value !== undefined) return { ok: true, value: text === '' ? undefined : value };
  const { code, message, errors } = problemIn(value);
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return {
    ok: false,
    error: new CrossbillError({
      code: code ?? 'unreadable_answer',
      status,
      message: message ?? `Crossbill answered ${status}, unreadable for this client.`,
      errors,
      retryAfterSeconds: Number.isFinite(seconds) ? seconds : null,
      idempotencyKey,
    }),
  };
}

/** Milliseconds until the next try. Null: no further try. */
function pauseOf(
  { status, code, retryAfterSeconds }: CrossbillError,
  { mayRepeat }: Outgoing,
  tries: number,
): number | null {
  if (retryAfterSeconds !== null && retryAfterSeconds > LONGEST_WAIT_SECONDS) return null;
  const refused = status === 429 && retryAfterSeconds !== null; // the server did nothing with the request
  const passing = status === null || (PASSING.has(status) && !LASTING_CODES.has(code));
  if (!refused && !(passing && mayRepeat)) return null;
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000;
  return Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function problemIn(value: unknown): { code?: string; message?: string; errors: FieldError[] } {
  const { code, message, errors } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    errors: Array.isArray(errors) ? (errors as FieldError[]) : [],
  };
}

/** `fetch failed` explains nothing, so this returns the reason from the error's cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { message?: string; code?: string }; message?: string };
  return cause?.message || cause?.code || message || 'no reason given';
}
