/** The output of `npm audit --json`, as a line for people and an exit code. */
export function verdictOf(printed: string): { readonly code: number; readonly line: string };
