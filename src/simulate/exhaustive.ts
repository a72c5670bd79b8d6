// Every single fault: a story runs once to find its steps, then once for each step and each way in which that step can fail.
import { type FaultKind, givenFaults } from './faults.js';
import { plainRun, type RunResult } from './run.js';
import { type SimStore } from './sim-store.js';
import { type Story } from './stories.js';

export type SingleFault = {
  readonly story: Story;
  readonly at: number;
  readonly fault: FaultKind;
  readonly label: string;
};

/** Runs a story without faults, and lists the single faults that are legal in it. */
export async function singleFaults(
  story: Story,
  store: SimStore,
): Promise<{ readonly golden: RunResult; readonly faults: readonly SingleFault[] }> {
  const golden = await plainRun(story, store);
  const faults = golden.points.flatMap(({ at, label, legal }) => legal.map((fault) => ({ story, at, fault, label })));
  return { golden, faults };
}

export function runSingleFault(f: SingleFault, store: SimStore, keepTrace = false): Promise<RunResult> {
  const name = `${f.story.name}: ${f.fault} at step ${f.at} (${f.label})`;
  return plainRun(f.story, store, givenFaults(new Map([[f.at, f.fault]])), { name, keepTrace });
}
