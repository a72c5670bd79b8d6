// Recognises a repeated POST: Crossbill returns the object of the first POST and makes no second one.

/** The caller's API key, the route, and the caller's Idempotency-Key. They are the same in a repeated POST. */
export type RequestName = {
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

/** Adds a hash of the body. The same name with the same hash is a repeat, with another hash a conflict. */
export type NamedRequest = RequestName & { readonly bodySha256: Buffer };

export type Remembered =
  { readonly known: false } | { readonly known: true; readonly sameBody: boolean; readonly objectId: string };
