// A command's surroundings: environment, output, questions, signal. Tests pass their own surroundings.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Hides the echo of a typed secret. */
const NOWHERE = new Writable({ write: (_chunk, _encoding, done) => done() });

export type Io = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The operator's login name on this machine, for the audit trail. */
  readonly user: string;
  /** Writes results. Resolves after the output has taken the text. */
  readonly out: (text: string) => Promise<void>;
  /** Writes progress, questions and errors. */
  readonly err: (text: string) => void;
  /** True: a person sits at the terminal and can answer. */
  readonly isTerminal: boolean;
  /** True for a terminal with colours, unless NO_COLOR is set. */
  readonly colours: boolean;
  /** The width of the terminal that shows the results. Null: they go into a file or a pipe, or the width is unknown. */
  readonly columns: number | null;
  /** Asks a question. Returns an empty text without an answer. `hidden`: the terminal does not show the typed text. */
  readonly ask: (question: string, hidden?: boolean) => Promise<string>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
};

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
    colours: process.stdout.isTTY && process.stdout.hasColors(),
    columns: process.stdout.isTTY ? process.stdout.columns || null : null,
    async ask(question, hidden = false) {
      if (hidden) process.stderr.write(question);
      const { stdin, stderr } = process;
      const lines = createInterface(
        hidden ? { input: stdin, output: NOWHERE, terminal: true } : { input: stdin, output: stderr },
      );
      try {
        return await lines.question(hidden ? '' : question, { signal });
      } catch (e) {
        if (!(e instanceof Error) || e.name !== 'AbortError') throw e;
        process.stderr.write('\n');
        return ''; // Ctrl-C and Ctrl-D count as a no
      } finally {
        if (hidden) process.stderr.write('\n');
        lines.close();
      }
    },
    signal,
  };
}
