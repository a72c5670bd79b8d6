// The name of a POST that creates something. A repeated POST has the same name, and so finds the object the first one
// created.

/** The requester, the purpose, and the caller's key. */
export type RequestName = {
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

/** With a hash of the request: the same hash is a repeat, another hash is a conflict. */
export type NamedRequest = RequestName & { readonly bodySha256: Buffer };

export type Remembered =
  { readonly known: false } | { readonly known: true; readonly sameBody: boolean; readonly objectId: string };
