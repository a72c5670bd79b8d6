// The steps of docs/backups.md. The drill runs the commands it reads from this page.

export const PAGE = 'docs/backups.md';
/** The example folder and time on the page. The drill puts its own folder and time in their place. */
const BACKUP = '/backup';
const UNTIL = /'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00'/;

/** Each step of the drill is one block of code on the page. The drill finds a step's block by its first words. */
const STEPS = {
  dump: 'pg_dump ',
  restoreDump: 'psql "$ADMIN_URL" -c \'alter database',
  archive: 'archive_mode ',
  baseBackup: 'pg_basebackup --pgdata /backup/base ',
  restoreBase: 'pg_ctl stop ',
  afterBase: 'psql "$ADMIN_URL" -c \'alter system',
  check: 'crossbill migrate --status',
} as const;

export type Step = keyof typeof STEPS;

/** Returns the block of each step. Throws if the page has a block without a step, or a step without a block. */
export function stepsOf(page: string): Readonly<Record<Step, string>> {
  const blocks = [...page.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const found = new Map<Step, string>();
  for (const block of blocks) {
    const step = (Object.keys(STEPS) as Step[]).find((name) => block.startsWith(STEPS[name]));
    if (step === undefined || found.has(step))
      throw new Error(`${PAGE}: no step of the restore drill carries this block out:\n${block}`);
    found.set(step, block);
  }
  const of = (step: Step): string => {
    const block = found.get(step);
    if (block === undefined) throw new Error(`${PAGE} has no block that begins with: ${STEPS[step]}`);
    return block;
  };
  return {
    dump: of('dump'),
    restoreDump: of('restoreDump'),
    archive: of('archive'),
    baseBackup: of('baseBackup'),
    restoreBase: of('restoreBase'),
    afterBase: of('afterBase'),
    check: of('check'),
  };
}

/** Replaces the example folder and time in the block. `until` null: the block has no time. */
export function filledIn(block: string, folder: string, until: Date | null): string {
  const text = block.replaceAll(`${BACKUP}/`, `${folder}/`);
  if (until === null) return text;
  if (!UNTIL.test(text)) throw new Error(`${PAGE}: the restore names no time`);
  return text.replace(UNTIL, `'${until.toISOString().replace('T', ' ').replace('Z', '+00')}'`);
}
