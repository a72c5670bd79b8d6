// The timeline of an object, oldest line first: the actor and the event, in words. Routine steps are folded; links and
// buttons stand for ids.
import { type JournalLine } from '../../shared/domain/model.js';
import { type Html, html, nothing } from '../../frames/console/html.js';
import { copyId, foreign, pathOf, time } from '../../frames/console/show.js';
import { isSuccess, timelineSentence } from './timeline-words.js';

export function timeline(journal: readonly JournalLine[]): Html {
  if (journal.length === 0) return html`<p class="empty">Nothing has happened yet.</p>`;
  const runs: JournalLine[][] = [];
  for (const line of journal) {
    const last = runs.at(-1);
    if (isRoutine(line) && last?.[0] !== undefined && isRoutine(last[0])) last.push(line);
    else runs.push([line]);
  }
  return html`<ol class="timeline">
    ${runs.map((run, i) => (run.length === 1 ? run.map(step) : folded(run, i)))}
  </ol>`;
}

function folded(run: readonly JournalLine[], at: number): Html {
  return html`<li>
    <details id="steps-${String(at)}">
      <summary>${String(run.length)} routine steps</summary>
      <ol>
        ${run.map(step)}
      </ol>
    </details>
  </li>`;
}

/** True for a routine line: a successful call, or an event without a remark (`reason`). */
function isRoutine({ kind, detail }: JournalLine): boolean {
  return kind === 'event' ? detail?.['reason'] === null : kind === 'call' && isSuccess(detail);
}

function step(line: JournalLine): Html {
  return html`<li class="${line.kind}">
    <span class="said">${foreign(timelineSentence(line))}</span>
    <span class="meta">${actor(line)} · ${time(line.at)} ${about(line)}</span>
  </li>`;
}

function actor({ kind, detail }: JournalLine): string {
  if (kind === 'person') return 'A person';
  const sender = kind === 'event' ? detail?.['sender'] : null;
  return sender === 'stripe' ? 'Stripe' : sender === 'mor' ? 'MoR' : 'Crossbill';
}

/** Links to the event, payment, refund, review item or request of the line. */
function about({ kind, ref, detail }: JournalLine): Html {
  const request = detail?.['requestId'];
  if (kind === 'call') return typeof request === 'string' ? html`· request ${copyId(request)}` : nothing;
  if (ref === null) return nothing;
  const page = pathOf(ref);
  return page === null ? copyId(ref) : html`· <a href="${page.path}" title="${ref}">${page.noun}</a>`;
}
