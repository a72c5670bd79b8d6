// What an operator does with single events of the inbox.

export abstract class EventsDesk {
  /**
   * Puts an event up for another decision: a parked or decided one of the inbox (`ie_…`), or an authentic one from quarantine
   * (`iq_…`), which then enters the inbox. Gives the inbox id; null: there is no such event.
   */
  abstract retry(id: string): Promise<string | null>;

  /** Closes a parked event for good, with why: it is ignored from then on, and can still be put up for another decision. False: it is not parked. */
  abstract dismiss(id: string, why: string): Promise<boolean>;
}
