// The error for wrong settings at the start. It names all wrong settings at once and prints no value.

/** A wrong setting. `problem` never contains the value. */
export type SettingProblem = { readonly name: string; readonly problem: string };

/** The error for wrong settings. A restart does not help: a person must change the settings first. */
export class ConfigError extends Error {
  readonly code = 'config.invalid';
  readonly retry = 'by-a-person';

  /** @param problems in the order of the settings reference. */
  constructor(readonly problems: readonly SettingProblem[]) {
    const lines = problems.map(({ name, problem }) => `  ${name}: ${problem}`);
    super(`${problems.length} setting${problems.length === 1 ? ' is' : 's are'} wrong\n${lines.join('\n')}`);
    this.name = 'ConfigError';
  }
}
