// The processes that run the simulated worlds: one for each core, with its own database. They share one queue of tasks.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Task, type TaskResult } from './task.js';
import { type FromWorker, type ToWorker } from './worker.js';

/**
 * Each core already runs a world, and threads for garbage collection would take processor time from it. The flags save
 * a fifth of the processor time of 60 seeds.
 */
const FLAGS = ['--single-threaded-gc', '--max-semi-space-size=64'];
const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url));

/** One process with its database. It does one task at a time. */
class Worker {
  private readonly child: ChildProcess;
  private waiting: { resolve: (fromWorker: FromWorker) => void; reject: (error: Error) => void } | null = null;
  private ended: Error | null = null;

  constructor(private readonly onProgress: (line: string) => void) {
    this.child = fork(WORKER, {
      execArgv: [...process.execArgv, ...FLAGS],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.child.on('message', (message: FromWorker) => {
      if (message.say === 'progress') return this.onProgress(message.line);
      const { waiting } = this;
      this.waiting = null;
      waiting?.resolve(message);
    });
    this.child.on('error', (error) => this.end(error));
    this.child.on('exit', (code, signal) => this.end(new Error(`a worker ended (${signal ?? code ?? 'no code'})`)));
  }

  async open(url: string): Promise<void> {
    await this.ask({ say: 'open', url });
  }

  async run(task: Task): Promise<TaskResult> {
    const reply = await this.ask({ say: 'run', task });
    if (reply.say !== 'ran') throw new Error('a worker gave no result');
    return reply.result;
  }

  close(): void {
    this.child.kill();
  }

  private ask(message: ToWorker): Promise<FromWorker> {
    return new Promise((resolve, reject) => {
      if (this.ended !== null) return reject(this.ended);
      this.waiting = { resolve, reject };
      this.child.send(message);
    });
  }

  private end(error: Error): void {
    this.ended ??= error;
    this.waiting?.reject(error);
    this.waiting = null;
  }
}

export class Crew {
  private constructor(private readonly workers: readonly Worker[]) {}

  /** `onProgress` receives lines from long tasks while they run. */
  static async open(urls: readonly string[], onProgress: (line: string) => void): Promise<Crew> {
    const workers = urls.map(() => new Worker(onProgress));
    const crew = new Crew(workers);
    try {
      await Promise.all(workers.map((w, n) => w.open(urls[n] ?? '')));
      return crew;
    } catch (error) {
      crew.close();
      throw error;
    }
  }

  /** Resolves when every task is done. Rejects and names the task if its process ends too early. */
  async run(tasks: Iterable<Task>, onResult: (result: TaskResult) => void): Promise<void> {
    const queue = tasks[Symbol.iterator]();
    const work = async (worker: Worker): Promise<void> => {
      for (let next = queue.next(); next.done !== true; next = queue.next()) {
        const task = next.value;
        const failed = (cause: unknown): never => {
          throw new Error(`not done: ${JSON.stringify(task)}`, { cause });
        };
        onResult(await worker.run(task).catch(failed));
      }
    };
    await Promise.all(this.workers.map(work));
  }

  close(): void {
    for (const worker of this.workers) worker.close();
  }
}
