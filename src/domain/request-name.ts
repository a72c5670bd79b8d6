// The name of a POST that creates, and what it made before.

/** The name of a POST that creates: who asked, for what, under which key. */
export type RequestName = {
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

/** With a hash of what was asked, to tell a repeat from a clash. */
export type NamedRequest = RequestName & { readonly bodySha256: Buffer };

export type Remembered =
  { readonly known: false } | { readonly known: true; readonly sameBody: boolean; readonly objectId: string };
