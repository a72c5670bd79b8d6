// `npm run chaos`: real processes, a real PostgreSQL and the sandbox. Random strikes hit them while a merchant's life
// goes on. In the end the run compares the ledger with Stripe and the MoR.
import { Progress } from '@crossbill/sandbox/demo/progress.js';
import { runDiskFull } from './disk-full.js';
import { runPatroni } from './failover-patroni.js';
import { runFailover } from './failover.js';
import { readOptions } from './options.js';
import { runChaos } from './run.js';
import { owned } from './stage.js';

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  const progress = new Progress(process.stdout, process.env['NO_COLOR']);
  const leave = (): void => owned.forEach((end) => end());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      leave();
      process.exit(130);
    });
  try {
    if (options.failover === 'patroni') return (await runPatroni(options, progress)) ? 0 : 1;
    if (options.failover !== undefined) return (await runFailover(options, options.failover, progress)) ? 0 : 1;
    if (options.diskFull) return (await runDiskFull(options, progress)) ? 0 : 1;
    return (await runChaos(options, progress)) ? 0 : 1;
  } finally {
    progress.idle();
    leave();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exit(1);
  },
);
