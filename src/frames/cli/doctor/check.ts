// One check of `crossbill doctor` and its result.

export type State = 'ok' | 'warn' | 'fail';

export type Check = {
  readonly name: string;
  readonly state: State;
  readonly detail: string;
  /** The operator's next step. Empty: nothing to do. */
  readonly todo: string;
};

export function check(name: string) {
  return {
    ok: (detail: string, todo = ''): Check => ({ name, state: 'ok', detail, todo }),
    warn: (detail: string, todo: string): Check => ({ name, state: 'warn', detail, todo }),
    fail: (detail: string, todo: string): Check => ({ name, state: 'fail', detail, todo }),
  };
}
