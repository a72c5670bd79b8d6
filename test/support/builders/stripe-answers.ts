// Replies of Stripe to a check of `crossbill doctor`.

export const reply = <T>(value: T) => Promise.resolve({ ok: true as const, value, status: 200, requestId: null });

/** Each way in which Stripe gives no answer, with its HTTP status, and a word of the step that fits. */
export const FAILURES: readonly [title: string, status: number | null, step: string][] = [
  ['without a reply', null, 'clock against Stripe'],
  ['after a refusal', 401, 'key'],
  ['after a failure at Stripe', 502, 'Try again later'],
  ['after a page of a proxy', 200, 'check the address'],
];

export const failing = (status: number | null) => () =>
  Promise.resolve({
    ...{ ok: false as const, kind: 'unknown' as const, status, code: null, message: '', errors: [] },
    ...{ retryAfterMs: null, requestId: null, replayed: false },
  });
