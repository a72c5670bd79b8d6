// `npm run example`: the example shop with its own daemon, sandbox and PostgreSQL, until Ctrl-C.
import { handedOn } from '../demo/options.js';
import { Progress } from '../demo/progress.js';
import { portNear, startWorld, type World } from '../demo/world.js';
import { ShopProcess } from './shop-process.js';

const SHOP_PORT = 4000;
const CUSTOM_TYPE = 'cpmt_shop';
/**
 * Ctrl-C reaches this process from the terminal and again from npm. A signal this soon after the first is the same
 * Ctrl-C.
 */
const SAME_SIGNAL_MS = 1_000;

async function main(): Promise<void> {
  const progress = new Progress(process.stdout, process.env['NO_COLOR']);
  const asked = signalled(progress);
  progress.step('starting PostgreSQL, the sandbox, the daemon and the shop');
  const port = await portNear(SHOP_PORT);
  const url = `http://127.0.0.1:${port}`;
  const environment = handedOn(process.env);
  const world = await startWorld({
    seed: 'example',
    databaseUrl: process.env['DATABASE_URL'] || null,
    dataDir: process.env['CROSSBILL_DATA_DIR'] || '.crossbill/example',
    startAgoMs: 0,
    environment,
    onDeath: (how) => progress.warn(`the daemon died (${how}); it is started again`),
    warn: (text) => progress.warn(text),
    settings: ({ kernel }) => ({
      STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: CUSTOM_TYPE,
      ENROLMENT: 'all',
      NOTIFY_URL: `${url}/hooks/crossbill`,
      API_KEYS: `person:ops:${kernel.secret('api-key-ops')},shop:ops:${kernel.secret('api-key-shop')}`,
    }),
  });
  let shop: ShopProcess | null = null;
  asked.kill = () => {
    shop?.kill();
    world.kill();
  };
  try {
    shop = new ShopProcess({ ...environment, ...shopSettings(world, port) });
    await Promise.race([shop.ready(), asked.promise]);
    if (!asked.done) invite(shop, world, progress);
    await asked.promise;
  } finally {
    progress.idle();
    await shop?.stop();
    await world.stop();
  }
}

function shopSettings({ sandbox, daemonUrl }: World, port: number): Record<string, string> {
  return {
    PORT: String(port),
    STRIPE_API_KEY: sandbox.secrets.stripeApiKey,
    STRIPE_API_BASE: sandbox.stripeUrl,
    STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: CUSTOM_TYPE,
    CROSSBILL_URL: daemonUrl,
    CROSSBILL_API_KEY: sandbox.kernel.secret('api-key-shop'),
    NOTIFY_SECRET: sandbox.secrets.notifySecret,
    PUBLISHABLE_KEY: sandbox.publishableKey,
    CONFIRM_SCRIPT: `${sandbox.morUrl}/_sandbox/confirm.js`,
  };
}

function invite(shop: ShopProcess, world: World, progress: Progress): void {
  progress.done('everything is up');
  progress.idle();
  if (shop.url !== `http://127.0.0.1:${SHOP_PORT}`) progress.warn(`port ${SHOP_PORT} is taken: the shop is elsewhere`);
  progress.line();
  progress.line(`${progress.style('bold', 'Shop')}       ${shop.url}`);
  progress.line(`Console    ${world.daemonUrl}/console   key: ${world.opsKey}`);
  progress.line(`Sandbox    ${world.control.base}/_sandbox   lists what it can do`);
  progress.line();
  progress.line('Let 15 days pass, in a second terminal:');
  progress.line(
    `  curl -s ${world.control.base}/_sandbox/clock -H 'Content-Type: application/json' -d '{"advance_sec":1296000}'`,
  );
  progress.line('Ask the command line:');
  progress.line(`  node dist/cli.js status --env-file ${world.leaveEnvFile()}`);
  progress.line();
  progress.line('Stop everything with Ctrl-C.');
}

type Asked = { readonly promise: Promise<void>; done: boolean; kill: () => void };

/** SIGINT, SIGTERM or SIGHUP stops all parts in order. A later signal ends the process at once. */
function signalled(progress: Progress): Asked {
  let resolve: () => void = () => undefined;
  const asked: Asked = { promise: new Promise((r) => (resolve = r)), done: false, kill: () => undefined };
  let first = 0;
  const onSignal = (): void => {
    if (asked.done && performance.now() - first < SAME_SIGNAL_MS) return;
    if (asked.done) {
      asked.kill();
      process.exit(130);
    }
    asked.done = true;
    first = performance.now();
    progress.idle();
    progress.line('stopping');
    resolve();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return asked;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
