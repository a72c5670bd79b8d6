// Every command of the documents is run as it stands there, in order, against a real daemon and the sandbox. What cannot be run here is
// listed in commands/not-run.ts, with the reason, and is looked at without running it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../src/config/index.js';
import { type Block, blocksOf, pagesWithCommands } from './commands/blocks.js';
import { NOT_RUN, OPTIONS_IN } from './commands/not-run.js';
import { PageShell, type Ran } from './commands/page-shell.js';
import { type Page, PAGES } from './commands/pages.js';
import { Rig } from './commands/rig.js';
import { commandLine, commandsOf } from '../../tools/docs/cli-reference.js';
import { codeIn, handwritten, isThere, root, textOf } from './support.js';

const blocks = pagesWithCommands().flatMap(blocksOf);
const commands = blocks.flatMap((block) => block.commands);
const notRun = (command: string) => NOT_RUN.find((entry) => command.startsWith(entry.command));
const scripts = (JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }).scripts;

describe('the commands of the documents', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.start();
  });
  afterAll(() => rig?.close());

  it.each(Object.keys(PAGES))(
    'of %s do what the page says, one after the other',
    async (path) => {
      const page = PAGES[path] as Page;
      const { CROSSBILL = '', MOR = '', OPS_KEY = '', SIGNUP_KEY = '' } = rig.env;
      const env = page.bare === true ? { CROSSBILL, MOR, OPS_KEY, SIGNUP_KEY } : rig.env;
      const shell = new PageShell(env, (seconds) => rig.rest(seconds));
      try {
        for (const [file, text] of Object.entries(page.files?.(rig) ?? {})) shell.write(file, text);
        await shell.open();
        await runPage(path, page, shell);
      } finally {
        await shell.close();
        await page.close?.();
      }
    },
    300_000,
  );

  async function runPage(path: string, page: Page, shell: PageShell): Promise<void> {
    const stands = Object.entries((await page.stands?.(rig)) ?? {});
    let said = '';
    for (const block of blocksOf(path)) {
      let printed = '';
      for (const command of block.commands) {
        if (notRun(command) !== undefined) continue;
        const says = page.says
          .filter((entry) => command.includes(entry.command))
          .sort((a, b) => b.command.length - a.command.length)[0];
        await says?.first?.(shell, rig);
        let text = command;
        for (const [placeholder, stand] of stands)
          if (text.includes(placeholder))
            text = text.replaceAll(placeholder, typeof stand === 'string' ? stand : await stand(said));
        const ran = await shell.run(rig.onOurPorts(text));
        if (process.env['SHOW_COMMANDS']) console.log(`${path}\n$ ${text}\n[${ran.code}]\n${ran.out}${ran.err}`);
        said += ran.out;
        printed += ran.out + ran.err;
        const where = `${path}, ${command.split('\n')[0] ?? ''}`;
        expect([where, ran.code, ran.err]).toEqual([where, says?.code ?? 0, ran.err]);
        const seen = says?.file === undefined ? ran.out + ran.err : shell.read(says.file);
        if (says !== undefined) expect([where, seen]).toEqual([where, expect.stringMatching(says.prints)]);
        else await expectSomething({ page, block, command, ran, shell, where });
      }
      if (block.output !== null) expectShown(block, printed);
    }
  }

  type One = { page: Page; block: Block; command: string; ran: Ran; shell: PageShell; where: string };

  /** Of a command of which the table says nothing. */
  async function expectSomething({ page, block, command, ran, shell, where }: One): Promise<void> {
    const set = assigned(command);
    if (set.length > 0) {
      for (const name of set) {
        const value = (await shell.run(`printf %s "$${name}"`)).out;
        expect([where, name, value]).toEqual([where, name, expect.stringMatching(/^(?!undefined$)./)]);
      }
    } else if (page.comments === true && !/^\w+\(\) \{/.test(command)) {
      const [, comment] = /\s# (?:\d{3} (?=\w+_))?(\S+)[^']*$/.exec(command) ?? [];
      if (comment === undefined)
        expect([where, ran.out]).toEqual([where, expect.not.stringMatching(/^\{"(?:code|error|message|title)"/)]);
      else expect([where, ran.out]).toEqual([where, expect.stringContaining(comment)]);
    } else if (!/^(sleep|set) |^\w+\(\) \{|>\/dev\/null$|> ?\S+$/.test(command) && block.output === null) {
      throw new Error(`${where}: nothing says what it prints: add it to test/docs/commands/pages.ts`);
    }
  }

  /** The variables that a command sets and that is all it does: `A=$(…) B='…'`. */
  function assigned(command: string): readonly string[] {
    let plain = command.replace(/\s#.*$/gm, '').replace(/'[^']*'/g, 'x');
    for (let before = ''; before !== plain;) {
      before = plain;
      plain = plain.replace(/"(?:(?!\$\()[^"])*"/g, 'x').replace(/\$\([^()]*\)/g, 'x');
    }
    const words = plain.trim().split(/\s+/);
    const names = words.map((word) => /^([A-Za-z]+)=/.exec(word)?.[1]);
    return names.every((name) => name !== undefined) ? names : [];
  }

  /** What the page shows under a block, line by line in order; `…` stands for anything. */
  function expectShown(block: Block, printed: string): void {
    let at = 0;
    for (const line of (block.output ?? '').split('\n').filter((l) => l.trim() !== '')) {
      const pattern = line
        .trim()
        .split('…')
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        .join('.*');
      const found = new RegExp(pattern).exec(printed.slice(at));
      expect([`${block.page}:${block.line}`, line, found === null ? printed : line]).toEqual([
        `${block.page}:${block.line}`,
        line,
        line,
      ]);
      at += (found?.index ?? 0) + (found?.[0].length ?? 0);
    }
  }

  it('are all run, or listed with the reason why not', () => {
    const missed = blocks
      .filter(({ page }) => PAGES[page] === undefined)
      .flatMap(({ page, commands: own }) => own.filter((c) => notRun(c) === undefined).map((c) => `${page}: ${c}`));
    expect(missed).toEqual([]);
  });
});

describe('the commands that a sentence names', () => {
  it('are each run by some test', () => {
    const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => textOf(join('test', path)))
      .join('\n');
    const run = (words: string): boolean =>
      new RegExp(`\\[\\s*${words.replaceAll(/[\w-]+/g, "'$&'").replaceAll(' ', ',\\s*')}`).test(tests) ||
      tests.includes(`'${words} `) ||
      commands.some((command) => command.startsWith(`crossbill ${words}`) && notRun(command) === undefined);
    const named = handwritten().flatMap((page) => codeIn(textOf(page)));
    const known = commandsOf(commandLine()).map(({ words }) => words);
    const used = known.filter((words) => named.some((code) => code.startsWith(`crossbill ${words}`)));
    expect(used.length).toBeGreaterThan(30);
    expect(used.filter((words) => !run(words))).toEqual([]);
  });
});

describe('the commands that are not run', () => {
  it('are still in the documents, and the tests that run them are there', () => {
    for (const { command, runs } of NOT_RUN) {
      expect([command, commands.some((c) => c.startsWith(command))]).toEqual([command, true]);
      if (runs !== undefined) expect(textOf(`test/${runs.file}`)).toContain(runs.title);
    }
  });

  it('name npm scripts, files, tests and options that exist', () => {
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
});

describe('the settings that the documents show', () => {
  it.each(blocks.filter((b) => b.settings).map((b) => [`${b.page}:${b.line}`, b] as const))(
    'at %s are taken by the daemon',
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
});
