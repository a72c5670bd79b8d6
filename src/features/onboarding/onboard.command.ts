// `crossbill onboard`: registers merchants at the MoR (Document 1) from a file, and shows their status.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Clock } from '../../shared/domain/ports/clock.js';
import { OnboardingController } from './onboarding.controller.js';
import { type OnboardingView, onboardingView } from './onboarding.view.js';
import { isFinal } from './rules/application.js';
import { allPages, type Cli } from '../../frames/cli/cli.js';
import { type Commands } from '../../frames/cli/commands.js';
import { explainError } from '../../frames/cli/errors.js';
import { CliError, EXIT } from '../../frames/cli/exit-codes.js';
import { parseCount } from '../../frames/cli/options.js';
import { counted, plain, table } from '../../frames/cli/table.js';

const HEADS = ['reference', 'merchant', 'status', 'next'];
const FILE =
  "JSON with one merchant or a list: the MoR's onboarding request, plus regions, businessDescription, storeUrls, category; withoutCompany: true if you do not know the company";

export function addOnboard(on: Commands): void {
  const onboard = on.group('onboard', on.about);
  onboard
    .add('apply', 'start or continue the application of each merchant in a file; safe to repeat')
    .requiredOption('--file <path>', FILE)
    .option('--yes', 'do not ask for confirmation')
    .action(on.run((cli, { file }) => apply(cli, file)));
  onboard.add('status [reference]', 'show the status of one merchant, or of all', true).action(
    on.run(async (cli, reference) => {
      const route = (await cli.open()).get(OnboardingController);
      if (reference === undefined) {
        const data = await allPages((query) => route.list(query)); // read from the database, without a call to the MoR
        return cli.print({ data }, () => table(HEADS, data.map(rowOf)));
      }
      const view = await route.one(reference);
      await cli.print(view, () => table(HEADS, [rowOf(view)]) + renderMerchant(view));
    }),
  );
  onboard
    .add('watch <reference>', 'keep looking until the application is approved or rejected')
    .option('--every <seconds>', 'how often', parseCount(3600), 60)
    .option('--wait <seconds>', 'how long at most', parseCount(604_800), 86_400)
    .action(
      on.run(async (cli, reference, { every, wait }) => {
        const app = await cli.open();
        const end = performance.now() + wait * 1000;
        for (let said = ''; ;) {
          const now = await app.get(OnboardingController).one(reference);
          const text = rowOf(now).join('  ');
          if (text !== said) cli.io.err(`${plain(text)}\n`);
          said = text;
          if (isFinal(now.status) || performance.now() >= end || cli.io.signal.aborted) {
            await cli.print(now, () => table(HEADS, [rowOf(now)]));
            if (now.status === 'approved') return EXIT.ok;
            return now.status === 'rejected' ? EXIT.failed : EXIT.unfinished;
          }
          await app.get(Clock).sleep(every * 1000, cli.io.signal);
        }
      }),
    );
}

async function apply(cli: Cli, file: string): Promise<number> {
  const merchants = merchantsIn(resolve(cli.io.cwd, file), file);
  const app = await cli.open();
  const service = app.get(OnboardingController).service();
  await cli.confirm(`Apply for ${counted(merchants.length, 'merchant')} at the MoR?`);
  const data: object[] = [];
  const rows: string[][] = [];
  let code: number = EXIT.ok;
  for (const [i, merchant] of merchants.entries()) {
    const steps: string[] = [];
    try {
      const { row, notice } = await app.change(
        'onboarding.apply',
        null,
        () => service.apply(merchant, cli.by, (step) => steps.push(step)),
        (done) => ({ target: done.row.reference, detail: { steps: steps.join(',') } }),
      );
      const view = onboardingView(row, notice);
      data.push({ ...view, steps });
      rows.push([...rowOf(view).slice(0, 3), `${steps.join(', ')}. ${rowOf(view)[3] ?? ''}`]);
    } catch (e) {
      const { exitCode, ...error } = explainError(e);
      if (error.code === 'failed') throw e;
      code = Math.max(code, exitCode);
      data.push({ merchant: i, steps, error });
      rows.push([`merchant ${i + 1}`, '-', 'failed', error.message.replaceAll('\n', ';')]);
    }
  }
  await cli.print({ data }, () => table(HEADS, rows));
  return code;
}

function merchantsIn(path: string, name: string): readonly unknown[] {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(read) ? (read as unknown[]) : [read];
  } catch {
    throw new CliError(EXIT.usage, 'file', `Crossbill cannot read ${name}, or it is not JSON.`);
  }
}

function rowOf({ reference, merchant_id: id, status, notice, next }: OnboardingView): string[] {
  return [reference, id ?? '-', status, [notice, next].filter(Boolean).join(' ')];
}

/** Describes company, business and shops of one merchant, as far as the MoR shows them. */
function renderMerchant({ company: c, business_description: business, store_urls: urls }: OnboardingView): string {
  const company = c === null ? '' : [c.legalName, c.jurisdiction, c.website].filter(Boolean).join(', ');
  const facts = { company, business: business ?? '', store: urls.join(', ') };
  return Object.entries(facts)
    .map(([name, text]) => (text === '' ? '' : `${name}: ${plain(text)}\n`))
    .join('');
}
