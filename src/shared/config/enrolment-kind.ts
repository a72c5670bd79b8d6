// Parses ENROLMENT, the rule to recognise the MoR's customers.
import { IN_QUOTES, isQuoted } from './kinds.js';
import { bad, good, type Kind } from './setting.js';

export type EnrolmentRule =
  | { readonly by: 'all' }
  | { readonly by: 'linked' }
  | { readonly by: 'metadata'; readonly key: string; readonly value: string };

/** Stripe docs, "Metadata": keys have at most 40 characters and no brackets, values at most 500. */
const METADATA = /^metadata:([^=[\]\s][^=[\]]{0,39})=(\S|\S.{0,498}\S)$/s;

export const enrolmentRule: Kind<EnrolmentRule> = {
  type: 'all, linked or metadata:<key>=<value>',
  parse(text) {
    if (text === 'all' || text === 'linked') return good({ by: text });
    const [, key, value] = METADATA.exec(text) ?? [];
    if (key === undefined || value === undefined)
      return bad(
        'must be all, linked or metadata:<key>=<value> with a key of at most 40 characters and a value of at most 500, for example metadata:billed_by=mor',
      );
    return isQuoted(value) ? bad(`has a value that ${IN_QUOTES}`) : good({ by: 'metadata', key: key.trim(), value });
  },
};
