// Sessions of the console that were logged out before their time.

export abstract class EndedSessions {
  /** Ends a session for good, in every replica. @param endsAt when it would have ended by itself: until then it is remembered */
  abstract end(sessionId: string, endsAt: Date): Promise<void>;
  abstract isEnded(sessionId: string): Promise<boolean>;
}
