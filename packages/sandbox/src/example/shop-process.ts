// The example shop as a separate process, with the packages of this checkout.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The root of the repository: this file runs as packages/sandbox/dist/example/shop-process.js. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const SHOP = join(ROOT, 'examples/shop');
const WATCHER = new URL('../demo/end-with-parent.js', import.meta.url).href;
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 5_000;
const POLL_MS = 50;

export class ShopProcess {
  private readonly child: ChildProcess;

  /** @param env the whole environment of the shop, with PORT */
  constructor(private readonly env: Readonly<Record<string, string>>) {
    linkClient();
    // The shop gets its own process group, like the daemon, so Ctrl-C does not reach it directly.
    const args = ['--import', WATCHER, 'main.js'];
    this.child = spawn(process.execPath, args, {
      cwd: SHOP,
      env: { ...env },
      stdio: ['pipe', 'ignore', 'inherit'],
      detached: true,
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.env['PORT'] ?? ''}`;
  }

  /** Resolves when the shop answers. Rejects if the shop ends or does not answer in time. */
  async ready(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await replies(this.url))) {
      if (this.child.exitCode !== null) throw new Error('the shop ended; its reason stands above');
      if (performance.now() > deadline) throw new Error(`the shop does not answer at ${this.url}`);
      await sleep(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.child.kill('SIGTERM');
    const insist = setTimeout(() => this.child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(insist);
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

/**
 * Links packages/client into the shop, as npm does for `file:../../packages/client`. Node finds the other packages in
 * the repository's node_modules.
 */
function linkClient(): void {
  const link = join(SHOP, 'node_modules/@crossbill/client');
  if (existsSync(link)) return;
  mkdirSync(join(SHOP, 'node_modules/@crossbill'), { recursive: true });
  symlinkSync(join(ROOT, 'packages/client'), link, 'junction');
}

async function replies(url: string): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/api/shop`, { signal: AbortSignal.timeout(2_000) });
    await reply.arrayBuffer();
    return reply.ok;
  } catch {
    return false;
  }
}
