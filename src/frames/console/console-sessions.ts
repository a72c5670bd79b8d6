// The console's sessions, shared by every replica.

export type ConsoleSession = {
  readonly id: string;
  /** The person's name: the API key's name, or the e-mail address from the identity provider. */
  readonly name: string;
  /** The IP address of the login. */
  readonly source: string;
  readonly beganAt: Date;
  readonly endsAt: Date;
};

export abstract class ConsoleSessions {
  abstract begin(session: ConsoleSession): Promise<void>;
  /** Ends a session for good, in every replica. Returns false if the session had ended already, or never existed. */
  abstract end(id: string): Promise<boolean>;
  /** Returns false if the session has ended or never existed. Does not check its expiry. */
  abstract isOpen(id: string): Promise<boolean>;
  /** Lists at most `limit` open sessions, newest first. */
  abstract list(limit: number): Promise<readonly ConsoleSession[]>;
}
