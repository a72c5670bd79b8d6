// One check of `crossbill doctor` and its result.

export type State = 'ok' | 'warn' | 'fail';

export type Check = {
  readonly name: string;
  readonly state: State;
  readonly detail: string;
  /** The operator's next step. Empty: nothing to do. */
  readonly todo: string;
};

/**
 * The next step after a failed call. Only a refusal is about the key and its rights. Without a reply, another check
 * names the reason: the network, a proxy or a certificate.
 * @param refused the step after a refusal (4xx)
 */
export function remedy(
  peer: 'Stripe' | 'the MoR',
  { status }: { readonly status: number | null },
  refused: string,
): string {
  if (status === null) return `See "clock against ${peer}" for the reason.`;
  const address = `Try again later. If this lasts, check the address of ${peer} in the settings.`;
  return status >= 400 && status < 500 ? refused : address;
}

export function check(name: string) {
  return {
    ok: (detail: string, todo = ''): Check => ({ name, state: 'ok', detail, todo }),
    warn: (detail: string, todo: string): Check => ({ name, state: 'warn', detail, todo }),
    fail: (detail: string, todo: string): Check => ({ name, state: 'fail', detail, todo }),
  };
}
