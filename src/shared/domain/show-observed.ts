// Puts all observations of one invoice's money into one sentence.
import { type Seen } from './facts/parts.js';
import { showMoney } from './money.js';
import { showIso } from './show-time.js';

export const SOURCE_WORDS: Readonly<Record<Seen['source'], string>> = {
  event: 'event',
  answer: 'answer to our call',
  read: 'our read',
  books: 'ledger',
};

/** Makes the sentence. `all`: each announcement of money by the MoR, and each payment of the invoice in the ledger. */
export function showObserved(all: readonly Seen[]): string {
  const announced = all.filter((x) => x.source !== 'books').map(showAnnounced);
  const booked = all.filter((x) => x.source === 'books').map(showBooked);
  return announced.length === 0
    ? ''
    : `The MoR announced: ${announced.join('; ')}. In the ledger: ${booked.join('; ') || 'nothing'}`;
}

function showAnnounced(seen: Seen): string {
  const how = seen.source === 'event' ? `event ${seen.id ?? ''}` : SOURCE_WORDS[seen.source];
  const what = seen.source === 'event' ? showNames(seen) : 'status PAID';
  const at = seen.at === null ? '' : `, ${showIso(seen.at)}`;
  return `${what}${sumOf(seen)}, link ${seen.link ?? ''} (${how}${at})`;
}

function showBooked(seen: Seen): string {
  const charge = typeof seen.charge === 'string' ? `, charge ${seen.charge}` : '';
  return `payment ${seen.id ?? ''}${charge}${sumOf(seen)}`;
}

/** The money's ids at the MoR: its charge id and its payment id. */
export function showNames({ charge, payment }: Pick<Seen, 'charge' | 'payment'>): string {
  const names = [
    ...(typeof payment === 'string' ? [`payment ${payment}`] : []),
    ...(typeof charge === 'string' ? [`charge ${charge}`] : []),
  ];
  return names.length === 0 ? 'a payment without an id' : names.join(', ');
}

const sumOf = ({ money }: Seen): string => (money === null ? '' : `, ${showMoney(money)}`);
