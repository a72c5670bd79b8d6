// Writes the report: Markdown for people, JSON for programs. `cleaned` removes secrets and e-mail addresses from both.
import { FACT_NAMES, FACTS, type Observed, type Rehearsal, type StepState } from './state.js';

const EMAIL = /[^\s@"'<>,;()]{1,64}@[^\s@"'<>,;()]{1,255}/g;
const SIGN: Readonly<Record<StepState, string>> = { passed: 'pass', failed: 'FAIL', skipped: 'skipped' };

/** Removes secrets (with `censor`) and all e-mail addresses from the text. */
export function cleaned(text: string, censor: (text: string) => string): string {
  return censor(text).replace(EMAIL, '[address]');
}

export function jsonReport(rehearsal: Rehearsal): string {
  return `${JSON.stringify(rehearsal, null, 2)}\n`;
}

export function markdownReport(rehearsal: Rehearsal, questions: readonly string[]): string {
  const versions = Object.entries(rehearsal.versions).map(([name, version]) => `${name} ${version}`);
  return [
    `# Rehearsal ${rehearsal.id}`,
    '',
    `Started ${rehearsal.startedAt} on Stripe account ${rehearsal.accountId}, test mode. ${versions.join(', ')}.`,
    '',
    '| step | result | detail |',
    '| --- | --- | --- |',
    ...rehearsal.steps.map((s) => `| ${s.name} | ${SIGN[s.state]} | ${cell(s.detail)} |`),
    ...questions
      .filter((name) => !rehearsal.steps.some((s) => s.name === name))
      .map((name) => `| ${name} | not yet | |`),
    '',
    '## What the MoR’s documents leave open',
    ...FACT_NAMES.flatMap((fact) => ['', `### ${FACTS[fact]}`, '', ...observations(rehearsal.facts[fact])]),
    '',
  ].join('\n');
}

function observations(all: readonly Observed[]): readonly string[] {
  if (all.length === 0) return ['Not observed.'];
  return all.map((one) => {
    const parts = Object.entries(one).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${shown(value)}`);
    return `- ${parts.join('; ')}`;
  });
}

function shown(value: Observed[string] | undefined): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'object') return value.length === 0 ? 'none' : value.map((v) => `\`${tick(v)}\``).join(', ');
  return typeof value === 'string' ? `\`${tick(value)}\`` : String(value);
}

const tick = (text: string): string => cell(text).replaceAll('`', "'");
const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');
