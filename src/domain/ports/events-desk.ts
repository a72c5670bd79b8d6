// What an operator does with single events of the inbox.

export abstract class EventsDesk {
  /**
   * Puts an event up for another decision: a parked or decided one of the inbox (`ie_…`), or an authentic one from quarantine
   * (`iq_…`), which then enters the inbox. Gives the inbox id; null: there is no such event.
   */
  abstract retry(id: string): Promise<string | null>;
}
