// The log: one JSON line per record (coloured text on a terminal), with secrets censored and control characters escaped.
import { Writable } from 'node:stream';
import { type LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { PinoPretty } from 'pino-pretty';
import { type Config, secretValues } from '../config/index.js';
import { standardOutput } from './log-target.js';
import { describeError, textCensor, withoutSecrets } from './redact.js';

/** A line at info and above has a stable code, `<room>.<event>`, to search and to alert by. Its words may change. */
type Line = { readonly event: `${string}.${string}`; readonly [field: string]: unknown };
type Loud = 'info' | 'warn' | 'error' | 'fatal';
export type Logger = Pick<PinoLogger, 'debug' | 'trace'> & Record<Loud, (line: Line, message: string) => void>;

export type LogLevel = Config['logLevel'];

export type LoggerOptions = {
  readonly level: LogLevel;
  /** No line ever shows these values, in any field or text (`secretValues(config)`). */
  readonly secrets: readonly string[];
} & (
  | {
      /** JSON lines. */
      readonly pretty: false;
      /** Where lines go; left out: stdout. */
      readonly destination?: DestinationStream;
    }
  | {
      /** Text for a person; coloured on stdout, unless NO_COLOR is set. */
      readonly pretty: true;
      /** A whole stream: the pretty printer pipes into it. */
      readonly destination?: Writable;
    }
);

/** The daemon's logger: text on a terminal, JSON lines in production and wherever stdout is a file or a pipe. */
export function loggerOf(config: Config): Logger {
  const pretty = !config.production && process.stdout.isTTY;
  return createLogger({ level: config.logLevel, secrets: secretValues(config), pretty });
}

/** The logger of a process. Pass it on; there is no global one. */
export function createLogger(options: LoggerOptions): Logger {
  const censor = textCensor(options.secrets);
  const tellLost = (lost: number): void =>
    logger.warn({ event: 'log.lines_lost', lost }, 'the standard output took no log lines for a while: they are lost');
  const standard: DestinationStream = { write: (line) => standardOutput(tellLost).write(line) };
  const stream = options.pretty
    ? PinoPretty({
        destination: options.destination ?? streamTo(standard),
        // Node looks at NO_COLOR too (no-color.org).
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
      // The last step before the stream sees every character: message, fields, stack and a child's fields.
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
 * JSON escapes control characters below U+0020. This escapes the other ones that forge or hide text, and the line stays JSON: DEL and C1
 * controls, line and paragraph separators, bidirectional marks, zero-width characters, and the byte order mark.
 */
function oneLine(line: string): string {
  return line.replace(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** For a terminal, escapes must survive the JSON parser of the pretty printer, or ESC would reach the terminal as a command. */
function shownEscapes(line: string): string {
  return line.replace(/\\(\\|u[0-9a-f]{4}|[rbf])/gi, (escape) => (escape === '\\\\' ? escape : `\\${escape}`));
}

/** Nest's own lines go the same way. `new NestLogger(logger)` goes to `NestFactory.create(…, { logger })`. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  /** Nest's lines at start interest only its developers. */
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

  /** Nest passes the context as the last text; before it an error may have its stack, and any call further values. */
  private write(level: Exclude<LogLevel, 'silent'>, message: unknown, rest: readonly unknown[]): void {
    const last = rest.at(-1);
    const context = typeof last === 'string' ? { context: last } : {};
    const others = typeof last === 'string' ? rest.slice(0, -1) : rest;
    const found = [message, ...others].find((value) => value instanceof Error);
    const stack = found === undefined && typeof others[0] === 'string' ? { stack: others[0] } : {};
    const error = found === undefined ? {} : { err: found };
    const line = { event: 'nest.line', ...context, ...stack, ...error } as const;
    if (typeof message === 'string') this.logger[level](line, message);
    else this.logger[level]({ ...line, value: found === message ? undefined : message }, found?.message ?? 'nest');
  }
}
