// The system's Chromium, driven from outside; null where there is none and none can be had.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { OPS_KEY } from '../support/rigs/world.js';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const INSTALL_MS = 180_000;

/** Installs a missing Chromium if allowed: with apt, as root. Returns its path; null: there is none. */
export function findChromium(): string | null {
  const found = PLACES.find((path) => existsSync(path));
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0) return null;
  const install = 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium';
  spawnSync('sh', ['-c', install], {
    stdio: 'ignore',
    timeout: INSTALL_MS,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return PLACES.find((path) => existsSync(path)) ?? null;
}

export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS });
}

/** Logs in with the operator's key, and waits for the wanted page, known by its heading. */
export async function logIn(page: Page, url: string, path = '/console', heading = 'Overview'): Promise<void> {
  await page.goto(`${url}/console/login?to=${encodeURIComponent(path)}`);
  await page.getByLabel('API key').fill(OPS_KEY);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
}
