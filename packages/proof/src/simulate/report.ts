// The output of the simulation: its progress, each failed run with the command that replays it, and the totals at the
// end.
import { type TaskResult } from './runs/task.js';

export type Reporter = {
  ran(result: TaskResult): void;
  done(): { readonly failed: number };
};

const PROGRESS_EVERY_MS = 2_000;
const SHOWN_RULES = 8;
const SHOWN_FAULTS = 12;

export function reporter(total: number, write: (text: string) => void, trace: boolean): Reporter {
  const startedAt = Date.now();
  const hits = new Map<string, number>();
  const met = new Map<string, number>();
  let runs = 0;
  let failed = 0;
  let steps = 0;
  let shownAt = startedAt;
  const pace = (): string => {
    const seconds = (Date.now() - startedAt) / 1000;
    return `${(runs / Math.max(seconds, 0.001)).toFixed(1)} runs a second`;
  };
  return {
    ran(result) {
      runs++;
      steps += result.steps;
      for (const { fault } of result.injected) hits.set(fault, (hits.get(fault) ?? 0) + 1);
      for (const what of result.happened) met.set(what, (met.get(what) ?? 0) + 1);
      if (trace) for (const line of result.trace) write(`  ${line}\n`);
      if (result.broken.length > 0) {
        failed++;
        write(failureText(result));
      }
      if (Date.now() - shownAt < PROGRESS_EVERY_MS && runs < total) return;
      shownAt = Date.now();
      write(`${runs} of ${total} runs, ${failed} failed, ${steps} steps, ${pace()}\n`);
    },
    done() {
      const listed = (counts: ReadonlyMap<string, number>): string =>
        [...counts]
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([what, n]) => `${what} ${n}`)
          .join(', ') || 'none';
      write(`\n${runs} runs, ${failed} failed, ${steps} steps, ${pace()}\n`);
      write(`faults that were acted out: ${listed(hits)}\n`);
      write(`runs that met: ${listed(met)}\n`);
      return { failed };
    },
  };
}

function failureText(taskResult: TaskResult): string {
  const more = (count: number, shown: number): string => (count > shown ? `    … and ${count - shown} more\n` : '');
  const faults = taskResult.injected.slice(0, SHOWN_FAULTS).map((f) => `    #${f.at} ${f.fault} at ${f.label}\n`);
  return [
    `\nFAILED ${taskResult.name}\n`,
    ...taskResult.broken.slice(0, SHOWN_RULES).map((b) => `  ${b}\n`),
    more(taskResult.broken.length, SHOWN_RULES),
    `  faults:\n`,
    ...faults,
    more(taskResult.injected.length, SHOWN_FAULTS),
    `  replay with: ${taskResult.replay}\n\n`,
  ].join('');
}
