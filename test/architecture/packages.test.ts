// Each published package works where nothing is hoisted: what it imports is declared, and what its manifest names is
// packed. pnpm, Plug'n'Play and linked installs show a package its declared dependencies only.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import ts from 'typescript';
import { textOf } from '../docs/support.js';
import { readSources, type SourceFile } from './import-rules.js';

type Names = Readonly<Record<string, string>>;
type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly files: readonly string[];
  readonly main?: string;
  readonly types?: string;
  readonly bin?: Names;
  readonly exports: Readonly<Record<string, string | Names>>;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
};

const PUBLISHED = ['.', 'packages/client', 'packages/embedded-postgres', 'packages/mor', 'packages/sandbox'];
const manifests = new Map(PUBLISHED.map((at) => [at, JSON.parse(textOf(`${at}/package.json`)) as Manifest]));
const packed = readSources('packages');
const sourcesOf = (at: string): readonly SourceFile[] =>
  at === '.' ? readSources('src') : packed.filter(({ path }) => path.startsWith(`${at}/src/`));

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'crossbill-packed-'))));
afterAll(() => rmSync(folder, { recursive: true }));

it('each published package declares each package it imports', () => {
  const hoisted = [...manifests].flatMap(([at, { name, dependencies = {}, optionalDependencies = {}, files }]) => {
    const declared = new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), name]);
    // A type needs no package, unless the package ships its types.
    const shipsTypes = !files.some((pattern) => pattern.startsWith('!') && pattern.includes('d.ts'));
    return sourcesOf(at).flatMap((file) =>
      importsOf(file.text)
        .filter((one) => !declared.has(one) && (shipsTypes || importsOf(withoutTypes(file.text)).includes(one)))
        .map((one) => `${at}: ${file.path} imports ${one}`),
    );
  });
  expect(hoisted).toEqual([]);
});

it.each(PUBLISHED)('the published package in %s packs each file that its manifest names', (at) => {
  const manifest = manifests.get(at);
  if (manifest === undefined) throw new Error(at);
  const built = sourcesOf(at).map(({ path }) => path.replace(/^.*?src\//, '').replace(/\.[mc]?ts$/, ''));
  const named = [manifest.main, manifest.types, ...Object.values(manifest.bin ?? {}), ...targets(manifest)]
    .filter((target) => target !== undefined)
    .flatMap((target) => (target.includes('*') ? built.map((name) => target.replace('*', name)) : [target]))
    .map((target) => target.replace(/^\.\//, ''))
    .filter((target) => !target.startsWith('dist/example/')); // of `npm run example`, in the repository only
  const here = mkdtempSync(join(folder, 'package-'));
  for (const path of named) write(join(here, path), '');
  write(join(here, 'package.json'), textOf(`${at}/package.json`));
  const npm = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'];
  const [pack] = JSON.parse(execFileSync('npm', npm, { cwd: here, encoding: 'utf8' })) as [
    { readonly files: readonly { readonly path: string }[] },
  ];
  const kept = pack.files.map(({ path }) => path);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !kept.includes(path))).toEqual([]);
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const targets = ({ exports: named }: Manifest): string[] =>
  Object.values(named).flatMap((one) => (typeof one === 'string' ? [one] : Object.values(one)));

/** The packages a source imports, by name, without Node's own modules and the own files of a package. */
const importsOf = (text: string): readonly string[] =>
  ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => !/^([.#]|node:)/.test(name) && !builtinModules.includes(name))
    .map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);

const withoutTypes = (text: string): string =>
  ts.transpileModule(text, { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext } })
    .outputText;
