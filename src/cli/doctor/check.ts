// What one check of the doctor says.

export type State = 'ok' | 'warn' | 'fail';

export type Check = {
  /** What was looked at, in a few words. */
  readonly name: string;
  readonly state: State;
  /** What was seen. */
  readonly detail: string;
  /** What to do; empty when there is nothing to do. */
  readonly todo: string;
};

export const ok = (name: string, detail: string): Check => ({ name, state: 'ok', detail, todo: '' });
export const warn = (name: string, detail: string, todo: string): Check => ({ name, state: 'warn', detail, todo });
export const fail = (name: string, detail: string, todo: string): Check => ({ name, state: 'fail', detail, todo });
