// The list of work for a person, the most urgent first, each with its next step. Without work the list shows one
// sentence: all is well.
import { type Html, html } from '../../frames/console/html.js';
import { type Need, type Needed } from '../../frames/console/needs.js';
import { sentencesOf } from '../../core/reviews/rules/words.js';
import { capital, count, duration, section, time, words } from '../../frames/console/show.js';
import { repliesOf, type EndpointReply } from '../../shared/domain/endpoint-replies.js';
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { type Stuck } from '../../core/health/health.repository.js';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';
import { type Names } from '../../frames/console/fields.js';
import { headingOf, whatHappened } from '../../core/reviews/review-heading.view.js';
import { type ReviewAbout } from '../../core/reviews/reviews.repository.js';

export type Waiting = {
  /** Some of the open review items, the soonest deadline first. */
  readonly reviews: readonly ReviewRow[];
  /** The customers and amounts of these items, by item id. */
  readonly abouts: ReadonlyMap<string, ReviewAbout>;
  readonly openReviews: number;
  /** The work of the features. */
  readonly ofFeatures: readonly Needed[];
  readonly parkedEvents: number;
  /** The replies of the webhook endpoints in the last 24 hours. */
  readonly replies: readonly EndpointReply[];
  readonly stuck: readonly Stuck[];
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
export function refusing(replies: readonly EndpointReply[]): readonly { endpoint: InboxSource; refused: number }[] {
  return (Object.keys(SENDERS) as InboxSource[])
    .map((endpoint) => {
      const sums = repliesOf(replies, endpoint);
      return { endpoint, refused: (sums.get(401) ?? 0) + (sums.get(503) ?? 0), taken: sums.get(200) ?? 0 };
    })
    .filter(({ refused, taken }) => refused >= REFUSALS_WORTH_A_LOOK && refused * 10 >= taken);
}

/** The customers whose names the list shows. */
export function customersOf(waiting: Waiting): readonly string[] {
  const abouts = waiting.ofFeatures.flatMap(({ needs }) => needs).flatMap(({ about }) => about ?? []);
  const ids = [...waiting.abouts.values(), ...abouts].flatMap(({ customerId }) => customerId ?? []);
  return [...new Set(ids)];
}

export function needsYou(waiting: Waiting, names: Names, now: Date): Html {
  const ofFeatures = waiting.ofFeatures.flatMap((of) => of.needs);
  const needs = [...reviewsOf(waiting, now), ...ofFeatures, ...othersOf(waiting)];
  const more = waiting.openReviews - waiting.reviews.length;
  const verified = waiting.ofFeatures.find((of) => of.verified !== undefined)?.verified;
  if (needs.length === 0) {
    return section(
      'Needs you',
      html`<p class="message good" role="status"><strong>All well</strong>${verified && html`; ${verified}`}.</p>`,
    );
  }
  return section(
    'Needs you',
    html`<ul class="needs">
        ${needs.map(
          (n) =>
            html`<li>
              <a href="${n.path}">${headingOf(n.what, n.about, names)}</a>
              ${n.detail !== undefined && html`<span class="what">${n.detail}</span>`}
              <span class="dim">${n.next}</span>
            </li>`,
        )}
      </ul>
      ${more > 0 && html`<p><a href="/console/reviews?status=open">${count(more)} more review items</a></p>`}
      ${waiting.ofFeatures.map((of) => of.more ?? null)} ${verified && html`<p class="dim">Ledger ${verified}.</p>`}`,
  );
}

function reviewsOf({ reviews, abouts }: Waiting, now: Date): readonly Need[] {
  return reviews.map((r) => ({
    what: capital(words(r.kind)),
    ...aboutOf(abouts.get(r.id)),
    detail: html`<bdi>${whatHappened(r)}</bdi>`,
    next: html`${r.dueAt !== null && html`<strong class="status ${r.dueAt <= now ? 'bad' : 'warn'}">${due(r.dueAt, now)}</strong> · `}<bdi
        >${sentencesOf(r).proposal}</bdi
      >`,
    path: `/console/reviews/${encodeURIComponent(r.id)}`,
  }));
}

const aboutOf = (about: ReviewAbout | undefined): Pick<Need, 'about'> => (about === undefined ? {} : { about });

function due(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  return seconds <= 0 ? `overdue by ${duration(-seconds)}` : `${duration(seconds)} left`;
}

function othersOf(waiting: Waiting): readonly Need[] {
  const needs: Need[] = refusing(waiting.replies).map(({ endpoint, refused }) => ({
    what: `Crossbill refused ${count(refused)} deliveries in 24 hours: ${SENDERS[endpoint]}`,
    next: 'See why: a wrong secret, a wrong clock, or a slow or full database.',
    path: '/console/deliveries',
  }));
  if (waiting.parkedEvents > 0) {
    needs.push({
      what: waiting.parkedEvents === 1 ? 'An event is parked' : `${count(waiting.parkedEvents)} events are parked`,
      next: 'Read why and fix the cause. Then decide it again, or dismiss it.',
      path: '/console/events?status=parked',
    });
  }
  for (const s of waiting.stuck.filter((s) => s.attempts >= TRIES_WORTH_A_LOOK)) {
    needs.push({
      what: `${capital(words(s.what))} failed ${count(s.attempts)} times`,
      next: html`${s.lastMessage === null ? 'Open it to see why' : html`<bdi>${s.lastMessage}</bdi>`}${
        s.lastStatus !== null && html` (HTTP ${s.lastStatus})`
      }.
      Crossbill tries again at ${time(s.nextTryAt)}.`,
      path: s.lane.startsWith('in_') ? `/console/invoices/${encodeURIComponent(s.lane)}` : '/console/events',
    });
  }
  return needs;
}
