/** Turns the output of `npm audit --json` into a line for people and an exit code. */
export function verdictOf(printed: string): { readonly code: number; readonly line: string };
