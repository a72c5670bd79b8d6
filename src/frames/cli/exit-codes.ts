// Every exit code of the command line. `crossbill --help` prints this table.

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  differences: 3,
  unreachable: 4,
  unfinished: 5,
  config: 78, // EX_CONFIG of sysexits.h; the daemon exits with this code too
} as const;

export const EXIT_HELP = `
Exit codes:
  0   done; doctor and verify: all is well
  1   failed or refused, the message says why; doctor: a check failed
  2   wrong usage
  3   verify, rebuild --check and other comparisons: open differences; move: Crossbill skipped some subscriptions
  4   no answer from the database, Stripe or the MoR: not everything could be done or compared
  5   stored, not carried out yet: a daemon continues; erase, onboard watch, rehearse: run it again
  78  settings are wrong
`;

/** The error for a failed command. The message names the remedy and holds no secret. */
export class CliError extends Error {
  constructor(
    readonly exitCode: number,
    /** A stable code, for scripts with `--json`. */
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'CliError';
  }
}

export function wrongUsage(message: string): CliError {
  return new CliError(EXIT.usage, 'usage', message);
}

export function unknown(message: string): CliError {
  return new CliError(EXIT.failed, 'not_found', message);
}
