// A change of status must stand in its table of moves.

/**
 * Throws if the table lacks this change of status: then the code has a bug. The lane stops and a person gets an item,
 * before any money follows an impossible status.
 */
export function checkMove(
  what: string,
  moves: Readonly<Record<string, readonly string[]>>,
  from: string,
  to: string,
): void {
  if (from !== to && moves[from]?.includes(to) !== true) throw new Error(`${what} cannot move from ${from} to ${to}`);
}
