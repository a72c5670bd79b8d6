// The setting that says whose invoices are expected to be paid through the MoR.
import { IN_QUOTES, isQuoted, type Parser } from './parsers.js';
import { withDefault } from './setting.js';

export type EnrolmentRule =
  | { readonly by: 'all' }
  | { readonly by: 'linked' }
  | { readonly by: 'metadata'; readonly key: string; readonly value: string };

const WANTED =
  'must be all, linked or metadata:<key>=<value> with a key of at most 40 characters and a value of at most 500, for example metadata:billed_by=mor';

/** Stripe docs, "Metadata": keys of at most 40 characters without brackets, values of at most 500. */
const METADATA = /^metadata:([^=[\]\s][^=[\]]{0,39})=(\S|\S.{0,498}\S)$/s;

const enrolmentRule: Parser<EnrolmentRule> = (text) => {
  if (text === 'all' || text === 'linked') return { ok: true, value: { by: text } };
  const [, key, value] = METADATA.exec(text) ?? [];
  if (key === undefined || value === undefined) return { ok: false, problem: WANTED };
  if (isQuoted(value)) return { ok: false, problem: `has a value that ${IN_QUOTES}` };
  return { ok: true, value: { by: 'metadata', key: key.trim(), value } };
};

export const enrolment = withDefault(
  {
    name: 'ENROLMENT',
    type: 'all, linked or metadata:<key>=<value>',
    description:
      'Whose invoices are expected to be paid through the MoR: those of all customers, of those who are linked to a customer of the MoR (by a signup, by hand or by an import), or of those whose subscription or customer has this metadata on Stripe. A payment event of the MoR enrols its customer by itself. Other invoices are recorded and left alone: no alarm, no relay, no difference.',
  },
  'all',
  enrolmentRule,
);
