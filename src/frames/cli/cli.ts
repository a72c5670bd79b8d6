// The tools of a command: settings, output and questions, and if needed the database with the daemon's services.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { parseEnv, styleText } from 'node:util';
import { type PageView } from '../api/http/page.js';
import { Problem } from '../api/http/problem.js';
import { type Caller } from '../api/access/caller.js';
import {
  type Config,
  type DatabaseConfig,
  loadConfig,
  loadDatabaseConfig,
  envText,
  withDotEnv,
} from '../../shared/config/index.js';
import { field, type Fields, fields, terminalTable } from '../console/fields.js';
import { explainError } from './errors.js';
import { CliError, EXIT } from './exit-codes.js';
import { fitted } from './fit.js';
import { type Io } from './io.js';
import { Progress } from './progress.js';
import { json, plain, table } from './table.js';
import { openAppContext, type AppContext } from './app-context.js';

/** The common options of all commands. */
export type Common = {
  readonly json?: true;
  readonly envFile?: string;
  readonly yes?: true;
  readonly wide?: true;
};

export class Cli {
  readonly json: boolean;
  /** The operator's name in the audit trail and in the timeline. */
  readonly by: string;
  readonly #opened: AppContext[] = [];
  #env: Io['env'] | null = null;

  constructor(
    readonly io: Io,
    private readonly options: Common,
    private readonly argv: readonly string[],
  ) {
    this.json = options.json === true;
    this.by = `cli:${io.user}`;
  }

  /** The operator as an API caller, for the handler of an API route. */
  get caller(): Caller {
    return { name: this.by, role: 'ops' };
  }

  /** The width for the result. Null: no terminal shows it, or the operator gave `--wide`. Then nothing is cut. */
  get width(): number | null {
    return this.options.wide === true ? null : this.io.columns;
  }

  config(): Config {
    return loadConfig(this.#environment());
  }

  databaseConfig(): DatabaseConfig {
    return loadDatabaseConfig(this.#environment());
  }

  /**
   * Returns one variable of the environment or the settings file, such as `CROSSBILL_URL`. Undefined: the variable is
   * missing or blank.
   */
  env(name: string): string | undefined {
    return this.#environment()[name]?.trim() || undefined;
  }

  /** Opens settings, database and services. They close when the command ends. */
  async open(): Promise<AppContext> {
    const app = await openAppContext(this.config(), this.io);
    this.#opened.push(app);
    return app;
  }

  async close(): Promise<void> {
    for (const app of this.#opened) await app.close();
  }

  /** Writes the result: as JSON with `--json`, else as text. */
  print(value: unknown, text: () => string): Promise<void> {
    return this.io.out(this.json ? json(value) : text());
  }

  /**
   * Prints one page of a list: as JSON in the API's form, or as a table with a hint on the next page. On a terminal the
   * table fits the width, unless `--wide` is given.
   */
  printPage<V extends object>(page: PageView<V>, list: Fields<V>): Promise<void> {
    return this.print(page, () => {
      const whole = terminalTable(list, page.data);
      const shown = this.width === null ? table(whole.heads, whole.rows) : fitted(whole, this.width);
      return shown + (page.next_cursor === undefined ? '' : `more: --cursor ${page.next_cursor}\n`);
    });
  }

  /**
   * Runs a request under its key. An error without a clear outcome shows the command that repeats the request safely:
   * without the key the same command would be a second request.
   * @param given the operator's `--key`
   */
  async keyed<T>(given: string | undefined, request: (key: string) => Promise<T>) {
    const key = given ?? randomUUID();
    const repeat = this.repeat(key);
    try {
      return { made: await request(key), key, repeat };
    } catch (e) {
      const isRefused = e instanceof CliError || (e instanceof Problem && e.getStatus() < 500);
      if (isRefused) throw e;
      const { exitCode, code, message } = explainError(e);
      throw new CliError(exitCode, code, `${message}\nCrossbill may have stored the request. ${sayRepeat(repeat)}`);
    }
  }

  /** The operator's own command under the key of its request, for a POSIX shell. `more`: further options. */
  repeat(key: string, ...more: readonly string[]): string {
    const [command = '', ...words] = this.argv;
    const isKeyed = words.some((word) => word === '--key' || word.startsWith('--key='));
    const added = [...(isKeyed ? [] : ['--key', key]), ...more.filter((word) => !words.includes(word))];
    // The options stand before the operator's words: after `--` they would be no options.
    return ['crossbill', command, ...added, ...words].map(quoted).join(' ');
  }

  /** Warns of a consequence before the question, in red where the terminal has colours. */
  warn(text: string): void {
    const line = `Warning: ${plain(text)}`;
    this.io.err(`${this.io.colours ? styleText('red', line, { validateStream: false }) : line}\n`);
  }

  /** Asks the operator to confirm, unless `--yes` is given. Throws after a no, and without a terminal. */
  async confirm(question: string): Promise<void> {
    if (!(await this.agrees(question))) throw new CliError(EXIT.failed, 'declined', 'Nothing was done.');
  }

  async agrees(question: string): Promise<boolean> {
    if (this.options.yes === true) return true;
    if (!this.io.isTerminal) {
      const message = `${plain(question)}\nCrossbill cannot ask without a terminal. Add --yes to confirm.`;
      throw new CliError(EXIT.usage, 'needs_yes', message);
    }
    return /^y(es)?$/i.test((await this.io.ask(`${plain(question)} [y/N] `)).trim());
  }

  /** Runs `work` and shows its progress on stderr. */
  async watch<T>(work: (progress: Progress) => Promise<T>): Promise<T> {
    const progress = new Progress(this.io);
    try {
      return await work(progress);
    } finally {
      progress.end();
    }
  }

  /**
   * The settings. A variable of the environment takes precedence over the settings file (`--env-file`, otherwise
   * `.env`).
   */
  #environment(): Io['env'] {
    return (this.#env ??= environment(this.io, this.options.envFile));
  }
}

export const sayRepeat = (repeat: string): string => `To repeat this safely: ${repeat}`;

function quoted(word: string): string {
  return /^[\w./:@=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function environment(io: Io, file: string | undefined): Io['env'] {
  if (file === undefined) {
    const { env, said } = withDotEnv(io.env, io.cwd);
    if (said !== null) io.err(`${said}\n`);
    return env;
  }
  const text = envText(resolve(io.cwd, file));
  if (text !== null) return { ...parseEnv(text), ...io.env };
  throw new CliError(EXIT.usage, 'env_file', `Crossbill cannot read the file ${file}. \`crossbill init\` makes one.`);
}

/** Reads every page of a list of the API. */
export async function allPages<V>(
  list: (query: { readonly limit: string; readonly cursor?: string }) => Promise<PageView<V>>,
): Promise<readonly V[]> {
  let page = await list({ limit: '100' });
  const all = [...page.data];
  while (page.next_cursor !== undefined) {
    page = await list({ limit: '100', cursor: page.next_cursor });
    all.push(...page.data);
  }
  return all;
}

/**
 * Makes the columns of a list that has no `*.fields.ts` file. Each column shows a member of the API's view unchanged.
 */
export function columns<V extends object>(...names: readonly (keyof V & string)[]): Fields<V> {
  const list: { [K in keyof V & string]?: ReturnType<typeof field.text<V>> } = {};
  for (const name of names) list[name] = field.text<V>(name);
  return fields<V>(list);
}
