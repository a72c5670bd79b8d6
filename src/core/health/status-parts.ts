// The parts of `crossbill status` that features add.
import { Injectable } from '@nestjs/common';

export type StatusPart = {
  /** The part's member in the JSON. */
  readonly name: string;
  /** The member, and its sentence for a person. Null: there is nothing to say. */
  readonly look: () => Promise<{ readonly json: object; readonly text: string } | null>;
};

@Injectable()
export class StatusParts {
  private readonly parts: StatusPart[] = [];

  add(part: StatusPart): void {
    this.parts.push(part);
  }

  async look(): Promise<{ readonly json: Readonly<Record<string, object | null>>; readonly texts: readonly string[] }> {
    const seen = await Promise.all(this.parts.map(async ({ name, look }) => ({ name, said: await look() })));
    return {
      json: Object.fromEntries(seen.map(({ name, said }) => [name, said?.json ?? null])),
      texts: seen.flatMap(({ said }) => said?.text ?? []),
    };
  }
}
