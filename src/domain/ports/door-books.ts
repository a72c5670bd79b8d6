// What the doors answered, kept for people to look at: by the hour, and the last refusals.
import { type InboxSource } from './inbox.js';

export type DoorAnswer = {
  readonly door: InboxSource;
  /** Its start, in UTC. */
  readonly hour: Date;
  /** HTTP; 499: the sender went away before an answer. */
  readonly status: number;
  readonly n: number;
};

export type DoorRefusal = {
  readonly door: InboxSource;
  readonly at: Date;
  readonly status: number;
  /** The code of the answer, such as `signature_mismatch`, or `aborted`. */
  readonly why: string;
  /** The peer's: of a proxy, where one stands before us. */
  readonly address: string;
};

export abstract class DoorBooks {
  /** Adds to what is kept, and drops what is older than some days. */
  abstract add(answers: readonly DoorAnswer[], refusals: readonly DoorRefusal[]): Promise<void>;
  /** Hours that began at this time or later, oldest first. */
  abstract answers(since: Date): Promise<readonly DoorAnswer[]>;
  /** Of each door the last ones, newest first. */
  abstract refusals(ofEach: number): Promise<readonly DoorRefusal[]>;
}
