// Runs every command of the documents as it stands there, in order, against a real daemon and the sandbox.
// commands/not-run.ts lists the exceptions, with the reason; test/architecture/commands.test.ts looks at those without
// running them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Block, blocksOf, pagesWithCommands } from './commands/blocks.js';
import { notRun } from './commands/not-run.js';
import { PageShell } from './commands/page-shell.js';
import { type Page, PAGES } from './commands/pages.js';
import { Rig } from './commands/rig.js';

const blocks = pagesWithCommands().flatMap(blocksOf);

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig?.close());

it.each(Object.keys(PAGES))(
  'the commands of %s print what the page shows',
  async (path) => {
    const page = PAGES[path] as Page;
    const { CROSSBILL = '', MOR = '', OPS_KEY = '', SIGNUP_KEY = '' } = rig.env;
    const env = page.bare === true ? { CROSSBILL, MOR, OPS_KEY, SIGNUP_KEY } : rig.env;
    const shell = new PageShell(env, (seconds) => rig.idle(seconds));
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
      else await expectSomething({ block, command, shell, where });
    }
    if (block.output !== null) expectShown(block, printed);
  }
}

type One = { block: Block; command: string; shell: PageShell; where: string };

/** Of a command without an entry in the table. */
async function expectSomething({ block, command, shell, where }: One): Promise<void> {
  const set = assigned(command);
  if (set.length > 0) {
    for (const name of set) {
      const value = (await shell.run(`printf %s "$${name}"`)).out;
      expect([where, name, value]).toEqual([where, name, expect.stringMatching(/^(?!undefined$)./)]);
    }
  } else if (!/^(sleep|set) |^\w+\(\) \{|>\/dev\/null$|> ?\S+$/.test(command) && block.output === null) {
    throw new Error(`${where}: nothing says what it prints: add it to test/docs/commands/pages.ts`);
  }
}

/** The variables of a command without any other effect: `A=$(…) B='…'`. */
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

/** The page's text under a block, line by line in order; `…` stands for anything. */
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

it('a test runs each command of the documents, or a list gives the reason to skip the command', () => {
  const missed = blocks
    .filter(({ page }) => PAGES[page] === undefined)
    .flatMap(({ page, commands: own }) => own.filter((c) => notRun(c) === undefined).map((c) => `${page}: ${c}`));
  expect(missed).toEqual([]);
});
