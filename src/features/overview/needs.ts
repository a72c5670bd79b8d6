// The list of work for a person, the most urgent first, each with its next step. Without work the list shows one
// sentence: all is well.
import { type Html, html, type Piece } from '../../frames/console/html.js';
import { sentencesOf } from '../../core/reviews/rules/words.js';
import { capital, count, duration, section, time, words } from '../../frames/console/show.js';
import { answersOf, type EndpointAnswer } from '../../shared/domain/endpoint-answers.js';
import { type ReviewRow } from '../../shared/domain/model.js';
import { type Stuck } from '../../core/health/health.store.js';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';
import { untoldOf, type VerifyRun } from '../verify/rules/run.js';
import { type Names } from '../../frames/console/fields.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { day } from '../../shared/domain/when.js';
import { type UnplannedInvoice } from '../retries/retries.store.js';
import { headingOf, whatHappened } from '../../core/reviews/review-heading.view.js';
import { type ReviewAbout } from '../../core/reviews/reviews.store.js';

export type Waiting = {
  /** Some of the open review items, the soonest deadline first. */
  readonly reviews: readonly ReviewRow[];
  /** The customers and amounts of these items, by item id. */
  readonly abouts: ReadonlyMap<string, ReviewAbout>;
  readonly openReviews: number;
  /** Some of the refused renewals with nothing planned, the newest first. */
  readonly unplanned: readonly UnplannedInvoice[];
  readonly moreUnplanned: boolean;
  readonly parkedEvents: number;
  /** The replies of the webhook endpoints in the last 24 hours. */
  readonly answers: readonly EndpointAnswer[];
  readonly verified: VerifyRun | null;
  /** The end of the last complete verify run. Null: never. */
  readonly verifiedAt: Date | null;
  readonly stuck: readonly Stuck[];
  readonly deadNotifications: number;
};

export const SENDERS: Readonly<Record<InboxSource, string>> = {
  stripe: 'Stripe',
  mor_payments: 'the MoR, payments',
  mor_events: 'the MoR, other events',
};

/** Crossbill retries a failed call, so one or two failures need nobody. */
const TRIES_WORTH_A_LOOK = 3;
/** Every public endpoint gets a few requests from strangers, so a few refusals need nobody. */
const REFUSALS_WORTH_A_LOOK = 5;

/** Endpoints with at least five refused deliveries, and at least one refused for each ten accepted. */
export function refusing(answers: readonly EndpointAnswer[]): readonly { endpoint: InboxSource; refused: number }[] {
  return (Object.keys(SENDERS) as InboxSource[])
    .map((endpoint) => {
      const sums = answersOf(answers, endpoint);
      return { endpoint, refused: (sums.get(401) ?? 0) + (sums.get(503) ?? 0), taken: sums.get(200) ?? 0 };
    })
    .filter(({ refused, taken }) => refused >= REFUSALS_WORTH_A_LOOK && refused * 10 >= taken);
}

/** `detail`: what happened, in a sentence. Null: the heading says it. */
type Need = { readonly what: Piece; readonly detail?: Piece; readonly next: Piece; readonly path: string };

/** The customers whose names the list shows. */
export function customersOf(w: Waiting): readonly string[] {
  const ids = [...[...w.abouts.values()], ...w.unplanned].flatMap(({ customerId }) => customerId ?? []);
  return [...new Set(ids)];
}

export function needsYou(w: Waiting, names: Names, now: Date): Html {
  const needs = [...reviewsOf(w, names, now), ...refusedOf(w, names, now), ...othersOf(w)];
  const more = w.openReviews - w.reviews.length;
  const verified = html`${w.verifiedAt === null ? 'not verified yet' : html`last verified ${time(w.verifiedAt)}`}`;
  if (needs.length === 0) {
    return section(
      'Needs you',
      html`<p class="message good" role="status"><strong>All well</strong>; ${verified}.</p>`,
    );
  }
  return section(
    'Needs you',
    html`<ul class="needs">
        ${needs.map(
          (n) =>
            html`<li>
              <a href="${n.path}">${n.what}</a>
              ${n.detail !== undefined && html`<span class="what">${n.detail}</span>`}
              <span class="dim">${n.next}</span>
            </li>`,
        )}
      </ul>
      ${more > 0 && html`<p><a href="/console/reviews?status=open">${count(more)} more review items</a></p>`}
      ${w.moreUnplanned && html`<p><a href="/console/retries">More refused renewals</a></p>`}
      <p class="dim">Ledger ${verified}.</p>`,
  );
}

function reviewsOf({ reviews, abouts }: Waiting, names: Names, now: Date): readonly Need[] {
  return reviews.map((r) => ({
    what: headingOf(capital(words(r.kind)), abouts.get(r.id), names),
    detail: html`<bdi>${whatHappened(r)}</bdi>`,
    next: html`${r.dueAt !== null && html`<strong class="status ${r.dueAt <= now ? 'bad' : 'warn'}">${due(r.dueAt, now)}</strong> · `}<bdi
        >${sentencesOf(r).proposal}</bdi
      >`,
    path: `/console/reviews/${encodeURIComponent(r.id)}`,
  }));
}

/** Nobody tries these again, so only a person can get them paid. */
function refusedOf({ unplanned }: Waiting, names: Names, now: Date): readonly Need[] {
  return unplanned.map((i) => ({
    what: headingOf('Refused renewal', i, names),
    detail: `${capital(refusalWords({ ...i.refusal, declineCode: i.refusal.code, failureMessage: null }))}, ${day(new Date(i.refusal.at), now)}.`,
    next: 'Nothing is planned. Open it to retry, to send a payment link, or to end it.',
    path: `/console/invoices/${encodeURIComponent(i.invoiceId)}`,
  }));
}

function due(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  return seconds <= 0 ? `overdue by ${duration(-seconds)}` : `${duration(seconds)} left`;
}

function othersOf(w: Waiting): readonly Need[] {
  const needs: Need[] = refusing(w.answers).map(({ endpoint, refused }) => ({
    what: `Crossbill refused ${count(refused)} deliveries in 24 hours: ${SENDERS[endpoint]}`,
    next: 'See why: a wrong secret, a wrong clock, or a slow or full database.',
    path: '/console/deliveries',
  }));
  if (w.parkedEvents > 0) {
    needs.push({
      what: w.parkedEvents === 1 ? 'An event is parked' : `${count(w.parkedEvents)} events are parked`,
      next: 'Read why and fix the cause. Then decide it again, or dismiss it.',
      path: '/console/events?status=parked',
    });
  }
  const differences = w.verified === null ? 0 : untoldOf(w.verified);
  if (differences > 0) {
    needs.push({
      what: differences === 1 ? 'Verify found a difference' : `Verify found ${count(differences)} differences`,
      next: 'Run crossbill verify --repair. Fix the rest by hand, or acknowledge it with a note.',
      path: '/console/verify',
    });
  }
  for (const s of w.stuck.filter((s) => s.attempts >= TRIES_WORTH_A_LOOK)) {
    needs.push({
      what: `${capital(words(s.what))} failed ${count(s.attempts)} times`,
      next: html`${s.lastMessage === null ? 'Open it to see why' : html`<bdi>${s.lastMessage}</bdi>`}${
        s.lastStatus !== null && html` (HTTP ${s.lastStatus})`
      }.
      Crossbill tries again at ${time(s.nextTryAt)}.`,
      path: s.lane.startsWith('in_') ? `/console/invoices/${encodeURIComponent(s.lane)}` : '/console/events',
    });
  }
  if (w.deadNotifications > 0) {
    needs.push({
      what:
        w.deadNotifications === 1
          ? 'Crossbill gave up a notification to your backend'
          : `Crossbill gave up ${count(w.deadNotifications)} notifications to your backend`,
      next: 'See the answers of your backend. Fix it, then send again.',
      path: '/console/notifications?status=dead',
    });
  }
  return needs;
}
