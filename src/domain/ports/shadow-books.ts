// What shadow mode has written down, counted.

export type ShadowStanding = {
  /** Calls that were decided and not sent, by kind. */
  readonly calls: ReadonlyMap<string, number>;
  /** Marks that were decided here and made by somebody else. */
  readonly agreed: number;
  /** Marks that were decided here and that nobody has made so far. */
  readonly unmarked: number;
};

export abstract class ShadowBooks {
  abstract standing(): Promise<ShadowStanding>;
}
