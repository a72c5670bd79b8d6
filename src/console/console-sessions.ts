// Who is logged in to the console, in every replica.

export type ConsoleSession = {
  readonly id: string;
  /** Of the API key, or the e-mail address of who signed in at the identity provider. */
  readonly name: string;
  /** The address that logged in. */
  readonly source: string;
  readonly beganAt: Date;
  /** When it ends by itself. */
  readonly endsAt: Date;
};

export abstract class ConsoleSessions {
  abstract begin(session: ConsoleSession): Promise<void>;
  /** Ends it for good, in every replica. False: it was over already, or never was. */
  abstract end(id: string): Promise<boolean>;
  /** False: it was ended, or never began. Does not look at its time. */
  abstract isOpen(id: string): Promise<boolean>;
  /** Those that are open, the newest first; at most `limit`. */
  abstract list(limit: number): Promise<readonly ConsoleSession[]>;
}
