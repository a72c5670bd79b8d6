// A dump of the process: a real heap snapshot, a real diagnostic report and, on Linux, every byte of its memory.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type World } from '../support/rigs/world.js';
import { DaemonProcess, ensureBuilt } from './support/daemon-process.js';

const key = (): string => randomBytes(24).toString('hex');

describe('a dump of a daemon that has started', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-dump-'));
  const [hashedKey, plainKey] = [key(), key()];
  const hash = createHash('sha256').update(hashedKey).digest('hex');
  let world: World;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    await ensureBuilt();
    world = await startWorld();
    const keys = `ops:ops:sha256:${hash},a-viewer-with-a-long-name:read:${plainKey}`;
    // As an operator asks for dumps. Without these flags the daemon writes none: test/docs/dumps.test.ts checks it.
    daemon = await DaemonProcess.on({ ...world.env, API_KEYS: keys }, [
      '--heapsnapshot-signal=SIGUSR2',
      '--report-on-signal',
      '--report-signal=SIGHUP',
      `--diagnostic-dir=${folder}`,
      `--report-directory=${folder}`,
    ]);
    await daemon.start();
  });
  afterAll(async () => {
    await daemon.end('SIGKILL');
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The one file of this ending, once it is whole. */
  async function written(ending: string, isWhole: (text: string) => boolean): Promise<string> {
    const read = (): string => {
      const [name] = readdirSync(folder).filter((n) => n.endsWith(ending));
      return name === undefined ? '' : readFileSync(join(folder, name), 'utf8');
    };
    return world.until(`a file ${ending} is written`, async () => read(), isWhole);
  }

  const outgoing = (): Readonly<Record<string, string>> => {
    const { secrets } = world.sandbox;
    return {
      'the key of Stripe': secrets.stripeApiKey,
      'the secret of Stripe’s endpoint': secrets.stripeWebhookSecret,
      'the secret of the payments endpoint': secrets.paymentWebhookSecret,
      'the secret of the events endpoint': secrets.eventWebhookSecret,
      'the client secret of the MoR': secrets.merchant.clientSecret,
    };
  };

  it("a heap snapshot of the daemon contains Crossbill's own secrets, but no API key of a caller", async () => {
    process.kill(daemon.pid, 'SIGUSR2');
    const snapshot = await written('.heapsnapshot', (text) => text.trimEnd().endsWith(']}'));
    expect(snapshot.includes(plainKey)).toBe(false);
    expect(snapshot.includes(hashedKey)).toBe(false);
    const missing = Object.entries(outgoing()).filter(([, value]) => !snapshot.includes(value));
    expect(missing.map(([name]) => name)).toEqual([]); // the page says so: such a file is as secret as the settings
  });

  it('a diagnostic report of the daemon contains no secret if Node can leave out environment variables', async () => {
    process.kill(daemon.pid, 'SIGHUP');
    const text = await written('.json', (t) => t.trimEnd().endsWith('}'));
    const report = JSON.parse(text) as { readonly environmentVariables?: Readonly<Record<string, string>> };
    const canLeaveOut = 'excludeEnv' in process.report;
    expect(report.environmentVariables === undefined).toBe(canLeaveOut);
    const shown = [hashedKey, ...(canLeaveOut ? [plainKey, ...Object.values(outgoing())] : [])].filter((s) =>
      text.includes(s),
    );
    expect(shown).toEqual([]);
  });

  it("the daemon's memory contains an API key set in plain text, but no API key set as a sha256 digest", () => {
    const memory = memoryOf(daemon.pid, [hashedKey, plainKey, hash, world.sandbox.secrets.stripeApiKey]);
    if (memory === null) return; // no Linux, or nobody may look into another process
    expect(memory).toEqual([false, true, true, true]);
  });
});

/**
 * Whether each text is anywhere in the process's writable memory, the content of a core dump. Null: unreadable here.
 */
function memoryOf(pid: number, texts: readonly string[]): readonly boolean[] | null {
  let maps: string;
  let memory: number;
  try {
    maps = readFileSync(`/proc/${pid}/maps`, 'latin1');
    memory = openSync(`/proc/${pid}/mem`, 'r');
  } catch {
    return null;
  }
  const found = texts.map(() => false);
  const chunk = Buffer.alloc(4 * 1024 * 1024);
  const overlap = 256;
  for (const [, from = '', to = ''] of maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)) {
    const end = BigInt(`0x${to}`);
    for (let at = BigInt(`0x${from}`); at < end; at += BigInt(chunk.length - overlap)) {
      const length = Number(end - at < BigInt(chunk.length) ? end - at : BigInt(chunk.length));
      try {
        const bytes = chunk.subarray(0, readSync(memory, chunk, 0, length, at));
        for (const [n, text] of texts.entries()) {
          found[n] ||= bytes.includes(text, 0, 'latin1') || bytes.includes(text, 0, 'utf16le');
        }
      } catch {
        break; // a mapping gone meanwhile, or the kernel's own
      }
    }
  }
  return found;
}
