// `npm run restore-drill` carries out both restores of docs/backups.md, with the page's own commands, on a real
// PostgreSQL. `-- dump` or `-- base` carries out only this restore.
import { handedOn } from '@crossbill/sandbox/demo/options.js';
import { Progress } from '@crossbill/sandbox/demo/progress.js';
import { NotIdle } from '@crossbill/sandbox/demo/idle.js';
import { NO_DEBIAN_POSTGRES } from './debian.js';
import { Drill, type Way } from './drill.js';

const WAYS: readonly Way[] = ['dump', 'base'];
const TITLE: Readonly<Record<Way, string>> = {
  dump: 'From a dump',
  base: 'From a base backup with the log, as of a second',
};

async function main(): Promise<number> {
  if (NO_DEBIAN_POSTGRES !== null) {
    console.log(`skipped: ${NO_DEBIAN_POSTGRES}`);
    return 0;
  }
  const asked = process.argv.slice(2);
  const ways = WAYS.filter((way) => asked.length === 0 || asked.includes(way));
  const progress = new Progress(process.stdout, process.env['NO_COLOR']);
  for (const way of ways) {
    const drill = new Drill(way, progress, handedOn(process.env));
    try {
      const seen = await drill.run();
      progress.idle();
      progress.line(`\n${TITLE[way]}\n`);
      for (const [what, found] of seen) progress.line(`  ${what}: ${found}`);
      progress.line();
    } finally {
      await drill.close();
    }
  }
  progress.line(`Took ${progress.elapsed()}.`);
  return 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    if (error instanceof NotIdle) for (const line of error.open.slice(0, 30)) console.error(`  ${line}`);
    process.exit(1);
  },
);
