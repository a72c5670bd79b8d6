// The name of a creating POST, and its earlier object.

/** The name of a creating POST: requester, purpose, key. */
export type RequestName = {
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

/** With a hash of the request, to tell a repeat from a clash. */
export type NamedRequest = RequestName & { readonly bodySha256: Buffer };

export type Remembered =
  { readonly known: false } | { readonly known: true; readonly sameBody: boolean; readonly objectId: string };
