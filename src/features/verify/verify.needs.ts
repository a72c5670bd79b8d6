// Differences on the first page: those that no review item asks about.
import { html } from '../../frames/console/html.js';
import { type Needed } from '../../frames/console/needs.js';
import { count, time } from '../../frames/console/show.js';
import { unnotifiedOf, type VerifyRun } from './rules/run.js';

/** `completeAt`: the end of the last complete run. Null: never. */
export function verifyNeeds(last: VerifyRun | null, completeAt: Date | null): Needed {
  const differences = last === null ? 0 : unnotifiedOf(last);
  const need = {
    what: differences === 1 ? 'Verify found a difference' : `Verify found ${count(differences)} differences`,
    next: 'Run crossbill verify --repair. Fix the rest by hand, or acknowledge it with a note.',
    path: '/console/verify',
  };
  const verified = completeAt === null ? html`not verified yet` : html`last verified ${time(completeAt)}`;
  return { needs: differences > 0 ? [need] : [], verified };
}
