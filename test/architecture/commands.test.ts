// The documents' words on commands and settings, as far as checkable without a run.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it } from '@jest/globals';
import { loadConfig } from '../../src/shared/config/index.js';
import { commandLine, commandsOf } from '../../tools/docs/cli-reference.js';
import { blocksOf, pagesWithCommands } from '../docs/commands/blocks.js';
import { NOT_RUN, notRun, OPTIONS_IN } from '../docs/commands/not-run.js';
import { codeIn, handwritten, isThere, root, textOf } from '../docs/support.js';

const blocks = pagesWithCommands().flatMap(blocksOf);
const commands = blocks.flatMap((block) => block.commands);
const scripts = (JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }).scripts;

it('a test runs each `crossbill` command that a documentation page names in a sentence', async () => {
  const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => textOf(join('test', path)))
    .join('\n');
  const run = (words: string): boolean =>
    new RegExp(`\\[\\s*${words.replaceAll(/[\w-]+/g, "'$&'").replaceAll(' ', ',\\s*')}`).test(tests) ||
    tests.includes(`'${words} `) ||
    commands.some((command) => command.startsWith(`crossbill ${words}`) && notRun(command) === undefined);
  const named = handwritten().flatMap((page) => codeIn(textOf(page)));
  const known = commandsOf(await commandLine()).map(({ words }) => words);
  const used = known.filter((words) => named.some((code) => code.startsWith(`crossbill ${words}`)));
  expect(used.length).toBeGreaterThan(30);
  expect(used.filter((words) => !run(words))).toEqual([]);
});

it('each documented command without a run is still in the documents, and the test named in its place exists', () => {
  for (const { command, runs } of NOT_RUN) {
    expect([command, commands.some((c) => c.startsWith(command))]).toEqual([command, true]);
    if (runs !== undefined)
      expect(textOf(runs.file.startsWith('packages/') ? runs.file : `test/${runs.file}`)).toContain(runs.title);
  }
});

it('each documented command names existing npm scripts, files, tests and options', () => {
  for (const command of commands.filter((c) => notRun(c) !== undefined)) {
    const plain = command.replace(/\s#.*$/, '');
    for (const [, script = ''] of plain.matchAll(/npm run (?:--silent )?([\w:-]+)/g))
      expect([plain, scripts]).toEqual([plain, expect.objectContaining({ [script]: expect.any(String) })]);
    for (const [file] of plain.matchAll(/(?<=\s)(?:test|node_modules|tools|deploy)\/[\w./-]+/g))
      expect([plain, isThere(file)]).toEqual([plain, true]);
    const [, file, title] = /(test\/\S+) -t '(.+)'/.exec(plain) ?? [];
    if (file !== undefined) expect([plain, textOf(file).includes(title ?? '')]).toEqual([plain, true]);
    const script = /npm run (\w+) -- /.exec(plain)?.[1] ?? '';
    for (const [option] of OPTIONS_IN[script] === undefined ? [] : plain.matchAll(/--[a-z-]+(?= |$)/g))
      if (option !== '--') expect([plain, textOf(OPTIONS_IN[script] ?? '').includes(option)]).toEqual([plain, true]);
  }
});

it.each(blocks.filter((b) => b.settings).map((b) => [`${b.page}:${b.line}`, b] as const))(
  'the daemon accepts the settings shown in %s (page and line)',
  (_, { text }) => {
    const given = text
      .replaceAll('https://…', 'https://mor.example/relay')
      .replaceAll('…', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const secret = 'a-secret-for-tests-0123456789abcdef';
    const required = {
      STRIPE_API_KEY: 'rk_test_0123456789abcdef',
      STRIPE_WEBHOOK_SECRETS: secret,
      MOR_BASE_URL: 'https://mor.example',
      MOR_AUTH_URL: 'https://mor.example',
      MOR_CLIENT_ID: 'merchant',
      MOR_CLIENT_SECRET: secret,
      MOR_PAYMENT_WEBHOOK_SECRETS: secret,
      MOR_RELAY_URL: 'https://mor.example/relay',
      MOR_RELAY_SECRET: secret,
      RECOVERY_LINK_JURISDICTION: 'GB',
      RECOVERY_LINK_RETURN_URL: 'https://shop.example/thanks',
      API_KEYS: `ops:ops:${secret}`,
    };
    expect(() => loadConfig({ ...required, ...parseEnv(given) })).not.toThrow();
  },
);
