// The processor time of the measured processes, from the system's counters. Other work on the machine changes processor
// time less than events per second.
import { readdir, readFile } from 'node:fs/promises';

/** Microseconds used so far. */
export type ProcessorTime = {
  /** The main thread of the measured server. */
  readonly thread: number;
  /** The other threads of the measured server: garbage collection, compiling, the thread pool. */
  readonly helpers: number;
  /** All processes of PostgreSQL. */
  readonly postgres: number;
  /** This process, the load. */
  readonly load: number;
};

/**
 * Reads the processor time of `pid`, of every child of PostgreSQL's first process `postgresPid`, and of this process.
 * Zeros if the system does not show it.
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

/** The processor time between two readings, for each of `count` events. */
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
 * Processor microseconds of a process (`pid`: its first thread) or of one of its threads (`pid/task/id`). 0 if unknown.
 */
export async function onProcessorUs(of: string): Promise<number> {
  // schedstat has three numbers: nanoseconds on a processor, nanoseconds waiting for one, and how often the thread ran.
  const text = await readFile(`/proc/${of}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ')[0]) / 1_000;
}

/**
 * The processor time of a process's ended children. PostgreSQL has one process per connection, and a pool closes idle
 * connections. Precise to a hundredth of a second for each child.
 */
async function endedUs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The split begins after the name in brackets, at the third field of the line (state). Fields 13 and 14 of the split
  // are cutime and cstime, the 16th and 17th of the line, in ticks of 10 ms.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * 10_000;
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}
