// What the console's search finds. Each feature adds a search for its own objects.
import { Injectable } from '@nestjs/common';

export type Found = {
  /** The kind of object, with its number if it has one: "Invoice 0001" or "Payment". */
  readonly what: string;
  readonly id: string;
  readonly path: string;
  /** True if the typed text is the whole id or number. */
  readonly exact: boolean;
  readonly minor: bigint | null;
  readonly currency: string | null;
  readonly status: string | null;
  readonly at: Date | null;
  readonly name: string | null;
};

@Injectable()
export class ObjectSearch {
  private readonly parts: ((id: string) => Promise<Found | null>)[] = [];

  /** Adds the search for an object by a whole id, ours or the MoR's. Its page must link to its invoice. */
  add(part: (id: string) => Promise<Found | null>): void {
    this.parts.push(part);
  }

  async find(id: string): Promise<readonly Found[]> {
    return (await Promise.all(this.parts.map((part) => part(id)))).flatMap((found) => found ?? []);
  }
}
