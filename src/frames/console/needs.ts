// Work for a person on the console's first page. Each feature adds its own.
import { Injectable } from '@nestjs/common';
import { type Html, type Piece } from './html.js';

export type Need = {
  readonly what: Piece;
  /** Customer and amount, for the heading instead of an id. */
  readonly about?: {
    readonly customerId: string | null;
    readonly minor: bigint | null;
    readonly currency: string | null;
  };
  /** What happened, in a sentence. Absent: the heading says it. */
  readonly detail?: Piece;
  /** The next step. */
  readonly next: Piece;
  readonly path: string;
};

export type Needed = {
  readonly needs: readonly Need[];
  /** A link to the rest. */
  readonly more?: Html;
  /** How fresh the ledger's comparison is: "last verified today". */
  readonly verified?: Html;
};

@Injectable()
export class Needs {
  private readonly parts: ((now: Date) => Promise<Needed>)[] = [];

  /** Adds a reader of a feature's work. It must be quick: the page reads it every few seconds. */
  add(part: (now: Date) => Promise<Needed>): void {
    this.parts.push(part);
  }

  read(now: Date): Promise<readonly Needed[]> {
    return Promise.all(this.parts.map((part) => part(now)));
  }
}
