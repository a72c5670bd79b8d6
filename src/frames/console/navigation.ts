// The console's menu: groups of pages, at the side of a wide screen, folded on a phone.
import { type Html, html } from './html.js';
import { type Session } from './session.js';

/** The groups and pages of the menu: for each page its path below /console and its name. */
const GROUPS = [
  [
    'Work',
    [
      ['', 'Overview'],
      ['reviews', 'Reviews'],
      ['disputes', 'Disputes'],
      ['retries', 'Retries'],
      ['verify', 'Verify'],
    ],
  ],
  [
    'Money',
    [
      ['invoices', 'Invoices'],
      ['payments', 'Payments'],
      ['refunds', 'Refunds'],
      ['customers', 'Customers'],
      ['enrolment', 'Enrolment'],
      ['moves', 'Moves'],
      ['ledger', 'Ledger'],
      ['ledger/trial-balance', 'Trial balance'],
    ],
  ],
  [
    'Developers',
    [
      ['events', 'Events'],
      ['deliveries', 'Deliveries'],
      ['notifications', 'Notifications'],
      ['audit', 'Audit'],
      ['sessions', 'Sessions'],
      ['settings', 'Settings'],
    ],
  ],
] as const;

export type Section = (typeof GROUPS)[number][1][number][0];

/** Pages for the role ops. The menu leaves them out for the role read. */
const OPS_ONLY: ReadonlySet<Section> = new Set<Section>(['audit', 'sessions']);

/**
 * Draws the menu.
 * @param current null: the page is in no section
 */
export function navigation(session: Session, current: Section | null, place: 'side' | 'menu'): Html {
  const shown = (path: Section): boolean => session.role === 'ops' || !OPS_ONLY.has(path);
  return html`<nav class="sections ${place}" aria-label="Sections">
    ${GROUPS.map(
      ([name, pages]) =>
        html`<div>
          <p id="${place}-${name}">${name}</p>
          <ul aria-labelledby="${place}-${name}">
            ${pages.map(([path, title]) => shown(path) && html`<li>${entry(path, title, path === current)}</li>`)}
          </ul>
        </div>`,
    )}
  </nav>`;
}

function entry(path: Section, title: string, here: boolean): Html {
  return html`<a href="${path === '' ? '/console' : `/console/${path}`}" ${here && html`aria-current="page"`}
    >${title}</a
  >`;
}
