// One thing to run, as plain data: what a seed, a list of faults or an order of arrival asks for, and the command that asks for it again.
import { drawPair } from './exhaustive.js';
import { type FaultKind, givenFaults } from './faults.js';
import { runOrder } from './permutations.js';
import { plainRun, type RunResult, seededRun } from './run.js';
import { type SimStore } from './sim-store.js';
import { soak, type SoakOptions } from './soak.js';
import { storyNamed } from './stories.js';

/** The step's number in its run, and what goes wrong there. */
export type GivenFault = readonly [at: number, fault: FaultKind];

export type Task = { readonly trace: boolean } & (
  | {
      readonly do: 'seed';
      readonly seed: number;
      /** The same seed must tell the same story. */ readonly twice: boolean;
    }
  | { readonly do: 'story'; readonly story: string; readonly faults: readonly GivenFault[] }
  | { readonly do: 'pair'; readonly seed: number; readonly story: string }
  | { readonly do: 'order'; readonly order: number }
  | ({ readonly do: 'soak' } & SoakOptions)
);

export type TaskResult = RunResult & {
  /** The command that shows this run step by step. */
  readonly replay: string;
  /** Of an order of arrival: how its world ended. */
  readonly end: string;
};

const COMMAND = 'npm run simulate --';

/** `progress` hears lines for people from tasks that take long. */
export async function runTask(task: Task, store: SimStore, progress: (line: string) => void): Promise<TaskResult> {
  const { trace } = task;
  switch (task.do) {
    case 'seed': {
      const first = await seededRun(task.seed, store, trace);
      const result = task.twice || first.broken.length > 0 ? await again(first, task.seed, store) : first;
      return { ...result, end: '', replay: `${COMMAND} --seeds 1 --from ${task.seed} --trace` };
    }
    case 'story':
      return withFaults(task.story, task.faults, store, trace);
    case 'pair': {
      const faults = await drawPair(task.story, task.seed, store);
      return withFaults(task.story, faults, store, trace);
    }
    case 'order':
      return {
        ...(await runOrder(task.order, store, trace)),
        replay: `${COMMAND} --permutations --order ${task.order} --trace`,
      };
    case 'soak': {
      const { seed, customers, months } = task;
      const replay = `${COMMAND} --soak --from ${seed} --customers ${customers} --months ${months} --jobs 1 --trace`;
      return { ...(await soak(task, store, trace, progress)), end: '', replay };
    }
  }
}

async function withFaults(
  name: string,
  faults: readonly GivenFault[],
  store: SimStore,
  keepTrace: boolean,
): Promise<TaskResult> {
  const listed = faults.map(([at, fault]) => `${at}:${fault}`).join(',');
  const result = await plainRun(storyNamed(name), store, givenFaults(new Map(faults)), {
    name: `${name} (${listed || 'no fault'})`,
    keepTrace,
  });
  return { ...result, end: '', replay: `${COMMAND} --story '${name}' --faults ${listed || 'none'} --trace` };
}

/** The same seed once more: another story means that something here is not owned by the seed. */
async function again(first: RunResult, seed: number, store: SimStore): Promise<RunResult> {
  const second = await seededRun(seed, store, false);
  if (second.digest === first.digest) return first;
  const differs = `the same seed took another way: trace ${first.digest}, then ${second.digest}`;
  return { ...first, broken: [...first.broken, differs] };
}
