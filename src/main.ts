// The program of the daemon: settings, start, signals, exit code. `npm start`, the image, the chart and the systemd unit
// pass flags of V8 to Node: a young generation of 8 MB, and a collection each time the heap grows by 70 %. Without them
// Node 24 and later take 100 MB more under load. With less memory than these a renewal costs up to a third more of the
// processor (docs/benchmarks.md).
import { Session } from 'node:inspector/promises';
import { type Config, ConfigError, loadConfig, withDotEnv } from './shared/config/index.js';
import { startDaemon } from './daemon.js';
import { loggerOf } from './shared/observe/index.js';
import { DatabaseRefused } from './frames/store/database.js';

/** The process ends within this time of SIGTERM, even if a migration or a socket hangs. */
const END_AT_LAST_MS = 19_000;

/**
 * Runs the daemon. Exit codes: 0 stopped on request, 1 could not start or crashed, 78 settings are wrong (sysexits:
 * EX_CONFIG).
 */
async function main(): Promise<void> {
  // Keeps the environment and its secrets out of diagnostic reports (from Node 22.13 on).
  Object.assign(process.report, { excludeEnv: true });
  const { env, said } = withDotEnv(process.env, process.cwd());
  const config = loadConfig(env);
  const log = loggerOf(config);
  if (said !== null) log.info({ event: 'daemon.env_file' }, said);
  const waiting = new AbortController();
  let stop: (() => Promise<void>) | null = null;
  let asked = false;
  const onSignal = (signal: string): void => {
    log.info({ event: 'daemon.signal', signal }, 'stopping');
    waiting.abort();
    if (asked) process.exit(1); // a second signal ends the process at once
    asked = true;
    setTimeout(() => {
      log.error({ event: 'daemon.cut_off' }, 'stopping took too long: Crossbill ends now; the next start continues');
      process.exit(1);
    }, END_AT_LAST_MS).unref();
    if (stop !== null) void stop().then(() => process.exit(0));
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // An unexpected error ends the process, and the next start continues the work. A half-dead process would do harm.
  process.on('uncaughtException', (err) => {
    log.fatal({ event: 'daemon.uncaught', err }, 'an uncaught error ends Crossbill; the next start continues the work');
    process.exit(1);
  });
  process.on('unhandledRejection', (err) => log.error({ event: 'daemon.unhandled', err }, 'an unhandled rejection'));
  try {
    const daemon = await startDaemon(config, log, waiting.signal);
    stop = () => daemon.stop();
    if (asked) await daemon.stop().then(() => process.exit(0));
    collectGarbage().catch((err: unknown) =>
      log.warn({ event: 'daemon.cleanup_failed', err }, "Couldn't free memory after the start; Crossbill continues"),
    );
  } catch (err) {
    if (asked) process.exit(0);
    const { code, message } = explainStart(err, config);
    if (code !== null) log.fatal({ event: 'daemon.not_started', code }, message);
    else log.fatal({ event: 'daemon.not_started', err }, message);
    process.exit(1);
  }
}

/** Explains a failed start. `code` is null if the cause is unknown. The log then shows the stack. */
function explainStart(
  err: unknown,
  { host, port }: Config,
): { readonly code: string | null; readonly message: string } {
  if (err instanceof DatabaseRefused) return { code: err.code, message: err.message };
  if (err instanceof Error && 'code' in err && err.code === 'EADDRINUSE') {
    return { code: 'port_in_use', message: `Port ${port} of ${host} is in use. Stop the other program, or set PORT.` };
  }
  return { code: null, message: 'the daemon could not start' };
}

/** Collects the garbage of the start: about 40 MB. V8 would keep it for long. */
async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}

const WHERE_TO_SET =
  'Set them in the environment. Outside production the file .env in this folder works too: `crossbill init` writes one.';

main().catch((e: unknown) => {
  process.stderr.write(`${e instanceof ConfigError ? `${e.message}\n${WHERE_TO_SET}` : String(e)}\n`);
  process.exit(e instanceof ConfigError ? 78 : 1);
});
