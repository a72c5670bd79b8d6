// A task of the simulation, as plain data: a seed, faults or an order of events, and the command to repeat it.
import { drawPair } from './exhaustive.js';
import { type GivenFault } from '../machine/faults.js';
import { runOrder } from './permutations.js';
import { plainRun, type RunResult, seededRun } from './run.js';
import { type Recipe } from './shrink.js';
import { type SimRepository } from '../machine/sim-repository.js';
import { soak, type SoakOptions } from './soak.js';
import { storyNamed } from '../stories/golden.js';

export type Task = { readonly trace: boolean } & (
  | {
      readonly do: 'seed';
      readonly seed: number;
      /** True: runs the seed twice and compares the two runs. */
      readonly twice: boolean;
      /** Null: the whole story under the faults of the seed. */
      readonly recipe: Recipe | null;
    }
  | { readonly do: 'story'; readonly story: string; readonly faults: readonly GivenFault[] }
  | { readonly do: 'pair'; readonly seed: number; readonly story: string }
  | { readonly do: 'order'; readonly order: number }
  | ({ readonly do: 'soak' } & SoakOptions)
);

export type TaskResult = RunResult & {
  /** The command that shows this run step by step. */
  readonly replay: string;
  /** Only for an order of events: the state at the end of its run, as text. */
  readonly end: string;
};

const COMMAND = 'npm run simulate --';

/** `progress` receives lines for people from long tasks. */
export async function runTask(
  task: Task,
  repository: SimRepository,
  progress: (line: string) => void,
): Promise<TaskResult> {
  const { trace } = task;
  switch (task.do) {
    case 'seed':
      return ofSeed(task, repository);
    case 'story':
      return withFaults(task.story, task.faults, repository, trace);
    case 'pair': {
      const faults = await drawPair(task.story, task.seed, repository);
      return withFaults(task.story, faults, repository, trace);
    }
    case 'order':
      return {
        ...(await runOrder(task.order, repository, trace)),
        replay: `${COMMAND} --permutations --order ${task.order} --trace`,
      };
    case 'soak': {
      const { seed, customers, months } = task;
      const replay = `${COMMAND} --soak --from ${seed} --customers ${customers} --months ${months} --jobs 1 --trace`;
      return { ...(await soak(task, repository, trace, progress)), end: '', replay };
    }
  }
}

async function ofSeed(task: Extract<Task, { do: 'seed' }>, repository: SimRepository): Promise<TaskResult> {
  const { seed, trace, recipe } = task;
  const small = recipe === null ? undefined : { ...recipe, faults: new Map(recipe.faults) };
  const first = await seededRun(seed, repository, trace, small);
  const doubted = recipe === null && (task.twice || first.broken.length > 0);
  const result = doubted ? await again(first, seed, repository) : first;
  return { ...result, end: '', replay: seedCommand(seed, recipe) };
}

/** Returns the command that shows this run step by step. */
export function seedCommand(seed: number, recipe: Recipe | null): string {
  const faults = recipe === null ? '' : ` --faults ${listed(recipe.faults)}`;
  const without = recipe === null || recipe.without.length === 0 ? '' : ` --without ${recipe.without.join(',')}`;
  return `${COMMAND} --seeds 1 --from ${seed}${faults}${without} --trace`;
}

function listed(faults: readonly GivenFault[]): string {
  return faults.map(([at, fault]) => `${at}:${fault}`).join(',') || 'none';
}

async function withFaults(
  name: string,
  faults: readonly GivenFault[],
  repository: SimRepository,
  keepTrace: boolean,
): Promise<TaskResult> {
  const result = await plainRun(storyNamed(name), repository, faults, {
    name: `${name} (${faults.length === 0 ? 'no fault' : listed(faults)})`,
    keepTrace,
  });
  return { ...result, end: '', replay: `${COMMAND} --story '${name}' --faults ${listed(faults)} --trace` };
}

/** Runs the same seed again. A different trace breaks a rule: the seed alone must decide everything. */
async function again(first: RunResult, seed: number, repository: SimRepository): Promise<RunResult> {
  const second = await seededRun(seed, repository, false);
  if (second.digest === first.digest) return first;
  const differs = `the same seed took another way: trace ${first.digest}, then ${second.digest}`;
  return { ...first, broken: [...first.broken, differs] };
}
