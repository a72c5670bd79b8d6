// One check of the doctor.

export type State = 'ok' | 'warn' | 'fail';

export type Check = {
  /** What doctor looked at, in a few words. */
  readonly name: string;
  readonly state: State;
  /** What doctor saw. */
  readonly detail: string;
  /** What to do; empty: nothing. */
  readonly todo: string;
};

/** The possible results of one check. */
export function check(name: string) {
  return {
    ok: (detail: string, todo = ''): Check => ({ name, state: 'ok', detail, todo }),
    warn: (detail: string, todo: string): Check => ({ name, state: 'warn', detail, todo }),
    fail: (detail: string, todo: string): Check => ({ name, state: 'fail', detail, todo }),
  };
}
