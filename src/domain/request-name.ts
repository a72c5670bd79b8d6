// The name of a POST that creates something. A repeated POST has the same name, so it finds the first POST's object.

/** The requester, the purpose, and the caller's key. */
export type RequestName = {
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

/** A request's name with a hash of its body: the same hash is a repeat, another hash is a conflict. */
export type NamedRequest = RequestName & { readonly bodySha256: Buffer };

export type Remembered =
  { readonly known: false } | { readonly known: true; readonly sameBody: boolean; readonly objectId: string };
