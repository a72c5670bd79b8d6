// `npm run sbom`: the bill of materials of the shipped product, as CycloneDX on stdout. Made from the lock alone,
// without a network.
//
// Not `npm sbom --omit=dev`: it leaves out everything a developer's package needs as well (npm 11.19), and so Nest,
// Express and a hundred more.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { devDependencies: _, scripts: __, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'));
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
delete lock.packages[''].devDependencies;
lock.packages = Object.fromEntries(Object.entries(lock.packages).filter(([, entry]) => entry.dev !== true));

const parent = mkdtempSync(join(tmpdir(), 'sbom-'));
const folder = join(parent, manifest.name); // npm takes the project's name from its folder
try {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const made = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--offline'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  if (made.status !== 0) process.stderr.write(made.stderr || String(made.error));
  process.stdout.write(made.stdout ?? '');
  process.exitCode = made.status ?? 1;
} finally {
  rmSync(parent, { recursive: true, force: true });
}
