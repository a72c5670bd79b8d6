// `crossbill onboard`: merchants at the MoR (Document 1), from a file, with their status.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { isFinal } from '../onboarding/rules/status.js';
import { nextStep } from '../onboarding/rules/next-step.js';
import { Clock } from '../domain/ports/clock.js';
import { applyMerchant } from '../onboarding/onboarding-apply.js';
import { type Onboarded, type OnboardingDone, OnboardingFlow } from '../onboarding/onboarding.flow.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Cli, need, parseCount, type Session } from './session.js';
import { plain, table } from './table.js';
import { actorOf, type World } from './world.js';

export function addOnboard(program: Command, session: Session): void {
  const onboard = program.command('onboard').description('merchants at the MoR; needs partner credentials');
  session
    .leaf(onboard, 'apply', 'start or continue the application of each merchant in a file; safe to repeat', apply)
    .requiredOption(
      '--file <path>',
      "JSON: one merchant or a list; the MoR's onboarding request with regions, businessDescription, storeUrls, category; withoutCompany: true where the company is not known",
    )
    .option('--yes', 'do not ask for confirmation');
  session.leaf(onboard, 'status [reference]', 'show how far one merchant is, or all of them', status, true);
  session
    .leaf(onboard, 'watch <reference>', 'keep looking until the application is approved or rejected', watch)
    .option('--every <seconds>', 'how often', parseCount(3600), 60)
    .option('--wait <seconds>', 'how long at most', parseCount(604_800), 86_400);
}

/** The value. Throws what was refused or not answered. */
function valueOf<T>(done: OnboardingDone<T>): T {
  if (done.ok) return done.value;
  throw done.why === 'refused'
    ? new CliError(
        EXIT.failed,
        done.code,
        [done.message, ...done.errors.map((e) => `  ${e.field}: ${e.message}`)].map(plain).join('\n'),
      )
    : new CliError(
        done.again ? EXIT.unreachable : EXIT.failed,
        done.failure.code ?? done.failure.kind,
        [done.failure.message, ...done.failure.errors.map((e) => `  ${e.field}: ${e.message}`)].map(plain).join('\n'),
      );
}

function view({ row, notice }: Omit<Onboarded, 'made'>): Record<string, unknown> {
  const { reference, status: state, due, comments } = row;
  const next = nextStep(row);
  return {
    reference,
    merchant_id: row.merchantId,
    status: state,
    due,
    comments,
    next,
    ...(row.merchant === null
      ? {}
      : {
          company: row.merchant.company,
          business_description: row.merchant.businessDescription,
          store_urls: row.merchant.storeUrls,
        }),
    ...(notice === null ? {} : { notice }),
  };
}

const HEADS = ['reference', 'merchant', 'status', 'next'];

function rowOf({ row, notice }: Omit<Onboarded, 'made'>): string[] {
  return [
    row.reference,
    row.merchantId ?? '-',
    row.status,
    [notice, nextStep(row)].filter((x) => x !== null).join(' '),
  ];
}

/** Company, description and shop of one merchant, as far as the MoR tells. */
function detailOf({ row }: Omit<Onboarded, 'made'>): string {
  if (row.merchant === null) return '';
  const { company, businessDescription, storeUrls } = row.merchant;
  const said = [
    [
      'company',
      company === null ? '' : [company.legalName, company.jurisdiction, company.website].filter(Boolean).join(', '),
    ],
    ['business', businessDescription ?? ''],
    ['store', storeUrls.join(', ')],
  ].filter(([, text]) => text !== '');
  return said.map(([name, text]) => `${name}: ${plain(text ?? '')}\n`).join('');
}

function merchantsIn(cli: Cli, file: string): readonly unknown[] {
  try {
    const read: unknown = JSON.parse(readFileSync(resolve(cli.io.cwd, file), 'utf8'));
    return Array.isArray(read) ? (read as unknown[]) : [read];
  } catch {
    throw new CliError(EXIT.usage, 'file', `${file} cannot be read, or is not JSON.`);
  }
}

async function apply(cli: Cli): Promise<number> {
  const merchants = merchantsIn(cli, String(cli.options['file']));
  const world = await cli.open();
  if (!(await cli.confirm(`Apply for ${merchants.length} merchant${merchants.length === 1 ? '' : 's'} at the MoR?`)))
    return EXIT.failed;
  const flow = world.get(OnboardingFlow);
  const done: Record<string, unknown>[] = [];
  const rows: string[][] = [];
  let code: number = EXIT.ok;
  for (const [i, merchant] of merchants.entries()) {
    let steps: readonly string[] = [];
    try {
      const applied = await world.change(
        'onboarding.apply',
        null,
        async () => {
          const tried = await applyMerchant(flow, merchant, actorOf(cli.io));
          steps = tried.steps;
          return valueOf(tried.result);
        },
        ({ row }) => ({ target: row.reference, detail: { steps: steps.join(',') } }),
      );
      done.push({ ...view(applied), steps });
      rows.push([...rowOf(applied).slice(0, 3), `${steps.join(', ')}. ${rowOf(applied)[3] ?? ''}`]);
    } catch (e) {
      if (!(e instanceof CliError)) throw e;
      code = Math.max(code, e.exitCode);
      done.push({ merchant: i, steps, error: { code: e.code, message: e.message } });
      rows.push([`merchant ${i + 1}`, '-', 'failed', e.message.replaceAll('\n', ';')]);
    }
  }
  await cli.print({ data: done }, () => table(HEADS, rows));
  return code;
}

async function status(cli: Cli, args: readonly (string | undefined)[]): Promise<number> {
  const world = await cli.open();
  const [reference] = args;
  const found =
    reference === undefined ? await all(world) : [valueOf(await world.get(OnboardingFlow).status(reference))];
  await cli.print(
    reference === undefined ? { data: found.map(view) } : found.map(view)[0],
    () => table(HEADS, found.map(rowOf)) + (reference === undefined ? '' : found.map(detailOf).join('')),
  );
  return EXIT.ok;
}

/** What is kept here; the MoR is not asked. */
async function all(world: World): Promise<Omit<Onboarded, 'made'>[]> {
  const flow = world.get(OnboardingFlow);
  const found: Omit<Onboarded, 'made'>[] = [];
  for (let cursor: string | null = null; ;) {
    const page: { data: readonly Onboarded['row'][]; nextCursor: string | null } = valueOf(
      await flow.list({ limit: 100, cursor }),
    );
    found.push(...page.data.map((row) => ({ row, notice: null })));
    if (page.nextCursor === null) return found;
    cursor = page.nextCursor;
  }
}

async function watch(cli: Cli, args: readonly (string | undefined)[]): Promise<number> {
  const reference = need(args);
  const world = await cli.open();
  const end = performance.now() + (cli.options['wait'] as number) * 1000;
  for (let said = ''; ;) {
    const now = valueOf(await world.get(OnboardingFlow).status(reference));
    const text = rowOf(now).join('  ');
    if (text !== said) cli.io.err(`${plain(text)}\n`);
    said = text;
    if (isFinal(now.row.status) || performance.now() >= end || cli.io.signal.aborted) {
      await cli.print(view(now), () => table(HEADS, [rowOf(now)]));
      if (now.row.status === 'approved') return EXIT.ok;
      return now.row.status === 'rejected' ? EXIT.failed : EXIT.unfinished;
    }
    await world.get(Clock).sleep((cli.options['every'] as number) * 1000, cli.io.signal);
  }
}
