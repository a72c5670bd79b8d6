// The log: one JSON line per record (coloured text on a terminal). Censors secrets and escapes control characters.
import { Writable } from 'node:stream';
import { type LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { PinoPretty } from 'pino-pretty';
import { type Config, secretValues } from '../config/index.js';
import { standardOutput } from './log-target.js';
import { describeError, textCensor, withoutSecrets } from '../masks/secrets.js';

/**
 * A line at level info or above has a stable code, `<area>.<event>`, for searches and alerts. Its message may change.
 */
type Line = { readonly event: `${string}.${string}`; readonly [field: string]: unknown };
type Loud = 'info' | 'warn' | 'error' | 'fatal';
export type Logger = Pick<PinoLogger, 'debug' | 'trace'> & Record<Loud, (line: Line, message: string) => void>;

export type LogLevel = Config['logLevel'];

export type LoggerOptions = {
  readonly level: LogLevel;
  /** Secrets of the settings (`secretValues(config)`). No line shows them, in any field or text. */
  readonly secrets: readonly string[];
} & (
  | {
      /** False: JSON lines. */
      readonly pretty: false;
      /** The output. Absent: stdout. */
      readonly destination?: DestinationStream;
    }
  | {
      /** True: text for a person, coloured on stdout unless NO_COLOR is set. */
      readonly pretty: true;
      /** The pretty printer needs a whole stream as its output. */
      readonly destination?: Writable;
    }
);

/** The daemon's logger: text on a terminal, JSON lines in production or if stdout is a file or a pipe. */
export function loggerOf(config: Config): Logger {
  const pretty = !config.production && process.stdout.isTTY;
  return createLogger({ level: config.logLevel, secrets: secretValues(config), pretty });
}

/** Creates the logger of a process. There is no global logger: pass the returned logger on. */
export function createLogger(options: LoggerOptions): Logger {
  const censor = textCensor(options.secrets);
  const tellLost = (lost: number): void =>
    logger.warn({ event: 'log.lines_lost', lost }, 'the standard output was blocked: these log lines are lost');
  const standard: DestinationStream = { write: (line) => standardOutput(tellLost).write(line) };
  const stream = options.pretty
    ? PinoPretty({
        destination: options.destination ?? streamTo(standard),
        // Node's `hasColors` obeys NO_COLOR (no-color.org).
        colorize: options.destination === undefined && process.stdout.isTTY && process.stdout.hasColors(),
        sync: true,
      })
    : (options.destination ?? standard);
  const logger = pino(
    {
      level: options.level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: cleanFields,
      },
      serializers: { err: (error: unknown) => (error instanceof Error ? describeError(error) : error) },
      // Censors the finished line, just before the stream writes it: message, fields, stack, and the fields of a child
      // logger. No text shows a secret or a raw control character.
      hooks: { streamWrite: (line) => (options.pretty ? shownEscapes : (same: string) => same)(oneLine(censor(line))) },
    },
    stream,
  );
  return logger;
}

function streamTo(target: DestinationStream): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      target.write(String(chunk));
      done();
    },
  });
}

function cleanFields(fields: Record<string, unknown>): Record<string, unknown> {
  return withoutSecrets(fields) as Record<string, unknown>;
}

/**
 * JSON escapes only control characters below U+0020. This function also escapes other characters able to forge or hide
 * text: DEL and C1 controls, line and paragraph separators, bidirectional marks, zero-width characters, and the byte
 * order mark. The line stays JSON.
 */
function oneLine(line: string): string {
  return line.replace(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Doubles the backslashes for a terminal. The pretty printer parses the JSON line. Without the
 * doubling it would write a bare ESC: a command to the terminal.
 */
function shownEscapes(line: string): string {
  return line.replace(/\\(\\|u[0-9a-f]{4}|[rbf])/gi, (escape) => (escape === '\\\\' ? escape : `\\${escape}`));
}

/** Sends Nest's own log lines to our log. Usage: `new NestLogger(logger)` as `logger` of `NestFactory.create`. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  /** Writes Nest's own lines of the start at level debug: operators do not need them. */
  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  /**
   * Nest passes its context as the last text. The texts before the context may be an error's stack and further values.
   */
  private write(level: Exclude<LogLevel, 'silent'>, message: unknown, remaining: readonly unknown[]): void {
    const last = remaining.at(-1);
    const context = typeof last === 'string' ? { context: last } : {};
    const others = typeof last === 'string' ? remaining.slice(0, -1) : remaining;
    const found = [message, ...others].find((value) => value instanceof Error);
    const stack = found === undefined && typeof others[0] === 'string' ? { stack: others[0] } : {};
    const error = found === undefined ? {} : { err: found };
    const line = { event: 'nest.line', ...context, ...stack, ...error } as const;
    if (typeof message === 'string') this.logger[level](line, message);
    else this.logger[level]({ ...line, value: found === message ? undefined : message }, found?.message ?? 'nest');
  }
}
