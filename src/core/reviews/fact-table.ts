// Shows the fact of a review item as a table, and each source's reports of the money as another table.
import { html, type Html, type Piece } from '../../frames/console/html.js';
import { type Column, table } from '../../frames/console/list.js';
import { facts, foreign, reference, section, time, words } from '../../frames/console/show.js';
import { type Fact } from '../../shared/domain/fact.js';
import { type Seen } from '../../shared/domain/facts/parts.js';
import { sayMoney } from '../../shared/domain/money.js';
import { SOURCE_WORDS } from '../../shared/domain/show-observed.js';
import { isMoney } from './fact.view.js';

export function factTable(fact: Fact): Html {
  const rows = Object.entries(fact).flatMap(([name, value]): (readonly [string, Piece])[] => {
    if (name === 'code' || name === 'observations' || isEmpty(value)) return [];
    return [[LABELS[name] ?? capitalWords(name), shown(value)]];
  });
  const observations = 'observations' in fact ? fact.observations : [];
  return html`${rows.length > 0 && section('What is known', facts(rows))}
  ${observations.length > 0 && section('What each source says', table('Observations', COLUMNS, observations, ''))}`;
}

/** Names of facts that need more words than they have. */
const LABELS: Readonly<Record<string, string>> = { maybeOne: 'Perhaps one payment, reported twice' };

const COLUMNS: readonly Column<Seen>[] = [
  { label: 'Source', cell: (x) => SOURCE_WORDS[x.source] },
  { label: 'Id', cell: (x) => ref(x.id) },
  { label: 'Payment', cell: (x) => ref(x.payment ?? null) },
  { label: 'Charge', cell: (x) => ref(x.charge ?? null) },
  { label: 'Link', cell: (x) => ref(x.link ?? null) },
  { label: 'Amount', number: true, cell: (x) => (x.money === null ? 'not given' : sayMoney(x.money)) },
  { label: 'At', cell: (x) => time(x.at === null ? null : new Date(x.at)) },
];

const ref = (id: string | null): Piece => (id === null ? foreign(null) : reference(id));

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
const NAME = /^[a-z]{2,6}_[\w-]+$/i;

function shown(value: unknown): Piece {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  if (isMoney(value)) return sayMoney(value);
  if (Array.isArray(value)) return value.map((x, n) => html`${n > 0 && '; '}${shown(x)}`);
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).filter(([, x]) => !isEmpty(x));
    return parts.map(([name, x], n) => html`${n > 0 && ', '}${words(name)} ${shown(x)}`);
  }
  if (typeof value !== 'string') return foreign(null);
  if (TIME.test(value)) return time(new Date(value));
  return NAME.test(value) ? reference(value) : html`<bdi>${value}</bdi>`;
}

function capitalWords(name: string): string {
  const said = words(name);
  return said.slice(0, 1).toUpperCase() + said.slice(1);
}
