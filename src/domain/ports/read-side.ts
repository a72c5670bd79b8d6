// Where what people look at and what verify compares is read: on a standby of the database where one is set, else on the primary.

/** Null in place of it: none is set. */
export type StandbyStanding = {
  /** False: what would be read there is read on the primary. */
  readonly used: boolean;
  /** How it stands, in words. */
  readonly detail: string;
};

export abstract class ReadSide {
  /**
   * Runs `work`. What it reads comes from the standby if that has all that was committed until this moment, so it never sees less than on
   * the primary. Where the standby fails half way, `work` runs again on the primary: it must change nothing.
   * @param mayRepeat asked before it runs again; false: the failure is thrown
   */
  abstract read<T>(work: () => Promise<T>, mayRepeat?: () => boolean): Promise<T>;
  /** Looks now. */
  abstract standing(): Promise<StandbyStanding | null>;
}
