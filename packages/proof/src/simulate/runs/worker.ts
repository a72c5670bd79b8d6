// A worker process for worlds on its own database: receives tasks one by one from its parent and returns each result.
import { SimRepository } from '../machine/sim-repository.js';
import { runTask, type Task, type TaskResult } from './task.js';

export type ToWorker = { readonly say: 'open'; readonly url: string } | { readonly say: 'run'; readonly task: Task };
export type FromWorker =
  | { readonly say: 'ready' }
  | { readonly say: 'progress'; readonly line: string }
  | { readonly say: 'ran'; readonly result: TaskResult };

const VACUUM_EVERY = 25;

let store: SimRepository | null = null;
let runs = 0;

function tell(message: FromWorker): void {
  process.send?.(message);
}

async function hear(message: ToWorker): Promise<void> {
  if (message.say === 'open') {
    store = await SimRepository.open(message.url);
    return tell({ say: 'ready' });
  }
  if (store === null) throw new Error('a task came before the database was opened');
  const result = await runTask(message.task, store, (line) => tell({ say: 'progress', line }));
  if (++runs % VACUUM_EVERY === 0) await store.vacuum();
  tell({ say: 'ran', result });
}

process.on('message', (message: ToWorker) => {
  hear(message).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
});
// The worker ends with its parent process.
process.on('disconnect', () => process.exit(0));
