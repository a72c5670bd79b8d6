// The inputs shared by the targets that send HTTP requests to a daemon.
import fc from 'fast-check';
import { amountText, oddText, timeText } from './inputs/texts.js';
import { type Rig } from './rig.js';
import { must, type Target } from './target.js';

export type Remote = { readonly name: string; readonly what: string; readonly on: (rig: Rig) => Target };

export function mustBeQuiet(rig: Rig): void {
  const [first] = rig.errors();
  must(first === undefined, `the daemon logged an error: ${first?.slice(0, 1_500)}`);
}

/** Texts that a header can carry. */
export const headerText = oddText.filter((t) => t.length < 3_000 && /^[\x20-\x7e\x80-\xff]*$/.test(t));
/** Values for a form field or a query parameter. */
export const values = fc.oneof(
  oddText.filter((t) => t.length < 3_000),
  timeText,
  amountText,
  fc.constantFrom('1', '100', 'open', 'EUR', '2026-11-01'),
);
