// The command line's surroundings: where it writes, whom it asks, what it is told. A test gives its own.
import { createInterface } from 'node:readline/promises';

export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Who sits at the machine, for the audit trail. */
  readonly user: string;
  /** Writes results. Resolves when the reader has room for more. */
  readonly out: (text: string) => Promise<void>;
  /** Writes progress, questions and errors. */
  readonly err: (text: string) => void;
  /** True: a person reads along and can be asked. */
  readonly isTerminal: boolean;
  /** The answer; empty when there was none. */
  readonly ask: (question: string) => Promise<string>;
  /** Aborted when the person wants to end. */
  readonly signal: AbortSignal;
};

/** The real ones. `user` falls back to the number of the user when it has no name, as in a bare container. */
export function processIo(user: string, signal: AbortSignal): Io {
  return {
    env: process.env,
    cwd: process.cwd(),
    user,
    out: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (e) => (e instanceof Error ? reject(e) : resolve()));
      }),
    err: (text) => void process.stderr.write(text),
    isTerminal: process.stdin.isTTY && process.stderr.isTTY,
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await lines.question(question, { signal });
      } catch (e) {
        if (!(e instanceof Error) || e.name !== 'AbortError') throw e;
        process.stderr.write('\n');
        return ''; // Ctrl-C and Ctrl-D are no answer, which is a no
      } finally {
        lines.close();
      }
    },
    signal,
  };
}
