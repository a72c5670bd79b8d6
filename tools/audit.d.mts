/** What `npm audit --json` printed, as a line for people and an exit code. */
export function verdictOf(printed: string): { readonly code: number; readonly line: string };
