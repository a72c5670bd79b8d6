// Sessions of the console, in every replica.

export type ConsoleSession = {
  readonly id: string;
  /** Of the API key, or the e-mail address of a person from the identity provider. */
  readonly name: string;
  /** The address of the login. */
  readonly source: string;
  readonly beganAt: Date;
  /** When it runs out. */
  readonly endsAt: Date;
};

export abstract class ConsoleSessions {
  abstract begin(session: ConsoleSession): Promise<void>;
  /** Ends it for good, in every replica. False: it was over already, or never was. */
  abstract end(id: string): Promise<boolean>;
  /** False: ended, or never begun. Does not look at its time. */
  abstract isOpen(id: string): Promise<boolean>;
  /** The open ones, the newest first; at most `limit`. */
  abstract list(limit: number): Promise<readonly ConsoleSession[]>;
}
