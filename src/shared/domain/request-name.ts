// Recognises a repeated POST: Crossbill returns the object of the first POST and makes no second one.

/** The caller's API key, the route, and the caller's Idempotency-Key. They are the same in a repeated POST. */
export type RequestName = {
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

/** The name of a POST, with a hash of the body. A repeat has the same hash. Another hash under the name: a conflict. */
export type NamedRequest = RequestName & { readonly bodySha256: Buffer };

export type Remembered =
  { readonly known: false } | { readonly known: true; readonly sameBody: boolean; readonly objectId: string };
