// The one error of a start with wrong settings: it names all of them at once and prints no value.

/** One setting that cannot be used, and why. `problem` never holds the setting's value. */
export type SettingProblem = { readonly name: string; readonly problem: string };

/** The settings cannot be used. A person must change them; another try with the same environment gives the same error. */
export class ConfigError extends Error {
  readonly code = 'config.invalid';
  readonly retry = 'by-a-person';

  /** @param problems at least one, in the order of the settings reference. */
  constructor(readonly problems: readonly SettingProblem[]) {
    const lines = problems.map(({ name, problem }) => `  ${name}: ${problem}`);
    super(`${problems.length} setting${problems.length === 1 ? ' is' : 's are'} wrong\n${lines.join('\n')}`);
    this.name = 'ConfigError';
  }
}
