// Room for the bodies of events, month by month.

export abstract class BodyMonths {
  /** Makes the room of this month and of `months` more, unless it is there. Any replica may do it. */
  abstract makeAhead(months: number): Promise<void>;
}
