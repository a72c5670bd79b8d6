// The processor time of a measurement's processes, by the system's count. Unlike a rate it hardly depends on other
// work.
import { readdir, readFile } from 'node:fs/promises';

/** Microseconds used so far. */
export type ProcessorTime = {
  /** The main thread of the measured server. */
  readonly thread: number;
  /** Its other threads: garbage collection, compiling, the thread pool. */
  readonly helpers: number;
  /** All processes of PostgreSQL. */
  readonly postgres: number;
  /** The measuring process, the load. */
  readonly load: number;
};

/**
 * Of `pid`, of every child of the PostgreSQL with the first process `postgresPid`, and of ourselves. Zeros if the
 * system does not tell.
 */
export async function processorTime(pid: number | undefined, postgresPid: number): Promise<ProcessorTime> {
  const threads = await threadsOf(pid ?? 0);
  const postgres = await Promise.all((await childrenOf(postgresPid)).map((child) => threadsOf(child)));
  const own = process.cpuUsage();
  return {
    thread: threads.main,
    helpers: threads.others,
    postgres: postgres.reduce((sum, t) => sum + t.main + t.others, await endedUs(postgresPid)),
    load: own.user + own.system,
  };
}

/** Use between two readings, for each of `count` events. */
export function spent(before: ProcessorTime, after: ProcessorTime, count: number): ProcessorTime {
  return {
    thread: (after.thread - before.thread) / count,
    helpers: (after.helpers - before.helpers) / count,
    postgres: (after.postgres - before.postgres) / count,
    load: (after.load - before.load) / count,
  };
}

async function threadsOf(pid: number): Promise<{ main: number; others: number }> {
  const ids = await readdir(`/proc/${pid}/task`).catch(() => []);
  let main = 0;
  let others = 0;
  for (const id of ids) {
    const us = await onProcessorUs(`${pid}/task/${id}`);
    if (id === String(pid)) main += us;
    else others += us;
  }
  return { main, others };
}

/**
 * Processor microseconds of a process (`pid`: of its first thread) or of one of its threads (`pid/task/id`); 0 if
 * unknown.
 */
export async function onProcessorUs(of: string): Promise<number> {
  // schedstat: nanoseconds on a processor, waiting for one, and how often it got one.
  const text = await readFile(`/proc/${of}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ')[0]) / 1_000;
}

/** Time of a process's ended children: a pool closes idle connections. To a hundredth of a second each. */
async function endedUs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // After the name in brackets: state is the third field of the line, cutime and cstime are the 16th and 17th, in ticks of 10 ms.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * 10_000;
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}
