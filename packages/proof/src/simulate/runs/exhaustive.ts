// Runs a story without faults to list its steps (calls, deliveries, statements). Then runs it again for each step
// and each possible fault of this step. For a pair of faults, a seed draws a second fault soon after the first.
import { type FaultKind, type YieldPoint } from '../machine/faults.js';
import { plainRun, type RunResult } from './run.js';
import { Seeded } from '../machine/seeded.js';
import { type SimRepository } from '../machine/sim-repository.js';
import { storyNamed, type Story } from '../stories/golden.js';

export type SingleFault = { readonly at: number; readonly fault: FaultKind; readonly label: string };

/** Returns every fault that these steps of a run may have. */
export function faultsOf(points: readonly YieldPoint[]): readonly SingleFault[] {
  return points.flatMap(({ at, label, legal }) => legal.map((fault) => ({ at, fault, label })));
}

/** Runs a story without faults, and lists the single faults that may happen in it. */
export async function singleFaults(
  story: Story,
  repository: SimRepository,
): Promise<{ readonly golden: RunResult; readonly faults: readonly SingleFault[] }> {
  const golden = await plainRun(story, repository);
  return { golden, faults: faultsOf(golden.points) };
}

/** The second fault comes within this many steps, while Crossbill recovers from the first. */
const NEAR_STEPS = 25;
const goldenPoints = new Map<string, readonly YieldPoint[]>();

/** Draws a first fault anywhere in the story, runs the story with this fault, and draws a second fault soon after. */
export async function drawPair(
  name: string,
  seed: number,
  repository: SimRepository,
): Promise<readonly (readonly [number, FaultKind])[]> {
  const rng = new Seeded(`pair ${seed}`);
  const story = storyNamed(name);
  const points = goldenPoints.get(name) ?? (await plainRun(story, repository)).points;
  goldenPoints.set(name, points);
  const first = rng.pick(faultsOf(points));
  const single = await plainRun(story, repository, [[first.at, first.fault]]);
  const later = faultsOf(single.points.slice(first.at + 1, first.at + 1 + NEAR_STEPS));
  if (later.length === 0) return [[first.at, first.fault]];
  const second = rng.pick(later);
  return [
    [first.at, first.fault],
    [second.at, second.fault],
  ];
}
