// How long is waited, how often is tried, and where a limit lies: each number of the rules with its unit, its reason and its source.
// What an operator may choose is a setting, with its default and reason in config/settings.ts.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

// ---- Calls: keys, retries, fresh reads

/** How long an idempotency key is good. Stripe may prune a key after 24 h, and the MoR's processor keys are made from ours: later a key proves nothing. */
export const KEY_LIFE_MS = 23 * HOUR_MS;

/** Stripe replays a stored 500 for as long as it keeps the key: after this long we look for the effect instead. */
export const REPLAY_PATIENCE_MS = MINUTE_MS;

/** The first retry comes about a second later (most failures are a dropped connection); the pauses double from there. */
export const RETRY_FIRST_PAUSE_MS = 1_000;
/** The pauses double up to this: an outage of hours costs four tries an hour, and its end is noticed soon enough. */
export const RETRY_LONGEST_PAUSE_MS = 15 * MINUTE_MS;
/** Jitter never makes a pause shorter than this. */
export const RETRY_SHORTEST_PAUSE_MS = 500;
/** A peer that does not accept us (a wrong key, a closed account) is asked at most once a minute: only a person can change that. */
export const RETRY_STOPPED_PAUSE_MS = MINUTE_MS;
/** No peer is waited for longer than this, whatever its Retry-After says: an hour of nobody's money is enough for one header. */
export const RETRY_AFTER_LONGEST_MS = HOUR_MS;

/** A read of the key's own account that failed is made again after this: long enough for an outage, short enough for an event that waits. */
export const OWN_ACCOUNT_AGAIN_MS = 15_000;

/** Failed reads and look-ups that the timeline shows: an outage of hours need not fill it. */
export const FAILED_READS_SHOWN = 3;
/** Failed tries of one call that the timeline shows. A refusal is always shown. */
export const FAILED_TRIES_SHOWN = 4;

/** How long a read of an invoice counts as fresh: long enough to decide and write, too short to go stale in a queue. */
export const READ_FRESH_MS = 10_000;

/** Errands in one claim of a lane; more is a sign of a loop, and the lane goes to the back of the queue. */
export const ERRANDS_A_CLAIM = 40;

/** After this long another worker takes over a crashed worker's lanes; a living worker renews its leases well before. DESIGN 5: at most 30 s. */
export const LEASE_MS = 25_000;

/**
 * A process that dies while a call is under way, or cannot write down its answer, leaves its lane to the rest of its lease, which is this long at
 * least: a try that is made so late may have one before it whose record was lost.
 */
export const CUT_OFF_AFTER_MS = 15_000;

/**
 * A process that stands still (its machine is moved, or swaps) loses its lane, and when it goes on may send a call that another process has
 * already looked for and not found. The end of a mark is taken back only after this long.
 */
export const STANDSTILL_MS = 5 * 60_000;

// ---- Workers: failing lanes, shared commits

/** After so many failed decisions an event is parked for a person, and a lane without one becomes a review item. */
export const DECISION_TRIES = 10;
/** How often a lane with such an item is tried again: what it waits for is a new release, or somebody's hand. */
export const STUCK_LANE_EVERY_MS = HOUR_MS;
/**
 * A step waits at most so long for others to share its commit: a tenth of one call to Stripe. With calls of 150 ms and 32 lanes a commit
 * then holds five steps instead of one or two.
 */
export const GATHER_MS = 15;

// ---- A caller who waits for the MoR's answer

/** The MoR answers within seconds. After that the caller hears that nothing is known yet, and Crossbill goes on with the request. */
export const ANSWER_PATIENCE_MS = 12_000;

/** A person at the console is shown the page after this at the latest; it keeps itself fresh then. Most answers come within a second. */
export const CONSOLE_PATIENCE_MS = 3_000;
/** A page of a list waits no longer for the names of its customers; it shows their ids then. */
export const NAMES_PATIENCE_MS = 800;
/** Reads of customers at one time for one page. */
export const NAMES_AT_ONCE = 8;
/** A list that somebody opens again within this time asks Stripe for no name. */
export const NAMES_KEPT_MS = 5 * MINUTE_MS;
/** Names in the memory of one process. */
export const NAMES_KEPT_AT_MOST = 2_000;

/** Before the next look whether it answered: often within the first second, when most answers come, then less. */
export function answerPauseMs(waitedMs: number): number {
  return waitedMs < 1_000 ? 50 : 250;
}

// ---- Renewals: marks, drafts, alarms

/** Calls of a mark that are tried after a refusal, each after a fresh read, before a person is asked. */
export const MARK_TRIES = 2;

/**
 * When a draft counts as stuck. Stripe finalizes a draft after an hour, or after 72 when somebody did not answer `invoice.created`. One
 * that keeps money waiting for longer has its automatic advancement off: nothing will come.
 */
export const DRAFT_PATIENCE_MS = 73 * HOUR_MS;
/** Stripe finalizes a draft an hour after it was made (Stripe docs, "Invoice finalization"), where it does not name the time itself. */
export const DRAFT_USUAL_LIFE_MS = HOUR_MS;
/** The net under `invoice.finalized`: a draft is looked at so long after it should be final, and then at pauses that grow as it is late... */
export const DRAFT_LOOK_AFTER_MS = MINUTE_MS;
/** ...to this, so that a day on which Stripe is late costs few reads. A draft that does not say when it will be final is looked at so often. */
export const DRAFT_LOOK_EVERY_MS = 15 * MINUTE_MS;
/** A draft that Stripe could not finalize waits for a person, who is told: it is looked at once an hour. */
export const DRAFT_FAILED_LOOK_EVERY_MS = HOUR_MS;

/**
 * An `invoice.created` of an invoice older than this is relayed after a read of the invoice alone: its draft's hour is over. Within the hour it
 * costs none, so that a burst of renewals is relayed at the MoR's pace and not at Stripe's.
 */
export const RELAY_LATE_MS = HOUR_MS;
/**
 * Reads that fail in a row before it is relayed unread: some nine minutes. A burst of 429, as after an outage that made many of them late,
 * is no reason to have an invoice charged that may be void.
 */
export const RELAY_READ_TRIES = 10;

// ---- Enrolment

/** A customer whose enrolment cannot be found out for so long is shown to a person: the draft's hour is over then, and nothing was relayed. */
export const ENROLMENT_PATIENCE_MS = HOUR_MS;
/**
 * A link says that the MoR charges from then on. An invoice older than the link by more than this is in Stripe's own dunning, and none
 * of ours unless the MoR pays it. Days and not minutes: a customer may be linked a while after the MoR began to charge.
 */
export const LINK_REACHES_BACK_MS = 3 * DAY_MS;

// ---- What Stripe would charge

/**
 * A look at a subscription's methods holds so long for its other invoices and events. A customer can save a card in the portal any day, so a look
 * of last month proves nothing; the events of one renewal come within an hour or three days, and `doctor --all` looks at a hundred
 * subscriptions with one request, after which a day's renewals need none.
 */
export const CHARGE_LOOK_GOOD_MS = DAY_MS;
/** A renewal that the MoR charges and we mark within seconds is out of Stripe's reach by then, and costs no look. */
export const CHARGE_LOOK_AFTER_MS = 5_000;
/** While Stripe would charge a draft it is looked at so often: a fix must show well within the hour that is left. */
export const CHARGE_LOOK_DRAFT_MS = 5 * MINUTE_MS;
/** While Stripe would charge an open invoice: its retries are days apart. */
export const CHARGE_LOOK_OPEN_MS = 6 * HOUR_MS;
/** Looks that fail in a row before the invoice goes on without: nobody is kept from anything by them. */
export const CHARGE_LOOK_TRIES = 8;

/** Rounds of deciding in one step. Each settles one thing more; eight is far beyond what any invoice needed, and ends a loop. */
export const SETTLE_ROUNDS = 8;

// ---- Signups

/** How long a signup's charge may stay unknown to the MoR before a person is asked. */
export const PROVE_PATIENCE_MS = 2 * HOUR_MS;
/** Looks at money on its way: the pauses grow with its age, from a second (a card)... */
export const PROVE_FIRST_PAUSE_MS = 1_000;
/** ...to an hour (a bank debit, which takes days). */
export const PROVE_LONGEST_PAUSE_MS = HOUR_MS;
/** A charge that is not known yet, or that nobody tells of, is asked for at pauses that double so often: up to about two minutes. */
export const PROVE_DOUBLINGS = 8;

/** Stripe ends an incomplete subscription 23 hours after it was made, and voids its first invoice (Stripe docs, "Subscriptions"). */
export const SIGNUP_ENDS_MS = 23 * HOUR_MS;
/** Five hours before that a person is told that a signup has no payment: a working day's notice is not possible. */
export const SIGNUP_OVERDUE_MS = 18 * HOUR_MS;

/** Longer than one call to the MoR, so that two requests with one key never send at the same time. */
export const SIGNUP_BUSY_MS = 15_000;
/** Who waits for another request with the same key looks so often whether it is done. */
export const BUSY_LOOK_EVERY_MS = 50;

/**
 * How often each replica looks for payment methods that a charge has just confirmed: a decision follows its event within a second or so. The
 * question reads an index that is empty nearly all the time.
 */
export const METHODS_LOOK_EVERY_MS = 1_000;
/** Confirmed methods of one look: the next one takes the rest. */
export const METHODS_A_LOOK = 100;

/** How often each replica looks for signups without a payment. */
export const SIGNUP_LOOK_EVERY_MS = 5 * MINUTE_MS;
/** Older ones were flagged long ago, or no daemon ran for a month: a person who looks then sees more than this. Most were given up. */
export const SIGNUP_FLAGGED_WITHIN_MS = 30 * DAY_MS;

// ---- Refunds

/**
 * Days after which a refund without an end is shown to a person, by its status. Bank debits take days, not weeks; an answer that nobody
 * gave should have come within the day.
 */
export const REFUND_PATIENCE_DAYS = { pending: 10, unknown: 1, requested: 1 } as const;
/** Days after which the dismissed item of such a refund comes back: until it has an end its amount stays reserved. */
export const REFUND_REMINDER_DAYS = 10;

// ---- Bank transfers and payment links

/** How long the event of a transfer may be behind the state that a read showed: the MoR tries to deliver it for some hours (events API). */
export const TRANSFER_PATIENCE_MS = HOUR_MS;
/** After its due date a transfer is still waited for: banks take days, customers more. */
export const TRANSFER_LATE_MS = 30 * DAY_MS;
/** How long a proforma invoice whose due date is not known here is taken to be payable. */
export const PROFORMA_USUAL_TERM_MS = 30 * DAY_MS;
/** A webhook may be lost for good: what can change at the MoR is looked at, at pauses that grow with its age, from a minute... */
export const OBJECT_FIRST_LOOK_MS = MINUTE_MS;
/** ...to a day. */
export const OBJECT_LONGEST_PAUSE_MS = DAY_MS;
/** A link is looked at once more so long after it expired: a payment in its last minute counts. */
export const LINK_LAST_LOOK_AFTER_MS = MINUTE_MS;
/** Reads of a link whose capture was announced, before a person is told that they do not agree: about two minutes. */
export const LINK_CONFIRM_TRIES = 8;
/** For so long a MoR that gives no usable answer about a link counts as away; after it a person is told. Longer than an outage of a day. */
export const LINK_SILENT_MS = 2 * DAY_MS;
/** Links that are made by themselves for one invoice: a week each, they outlast every schedule of tries. */
export const RECOVERY_LINKS_MOST = 3;

// ---- Retries of refused renewals

/**
 * Stripe's first `invoice.payment_attempt_required` comes with the invoice's finalization, about an hour after the MoR learned of it, and
 * speaks of the charge that was just refused. Its later ones are at least a day apart (Stripe docs, "Automate payment retries").
 */
export const RETRY_ASKED_AFTER_MS = 12 * HOUR_MS;
/**
 * A refusal that the MoR made so long before a retry was ordered is of an earlier try. The doors take nothing of a clock that is wrong by
 * more than some minutes (WEBHOOK_TOLERANCE_SEC).
 */
export const CLOCKS_APART_MS = HOUR_MS;
/** Steps for one kind of refusal: Stripe's own recovery tries eight times at most (Stripe docs, "Automate payment retries"). */
export const RETRY_STEPS_MOST = 8;

// ---- Events that name no invoice

/** The answer to our own call, or the payment's own event, may be under way: so long until nobody is known to be meant. */
export const ROUTE_PATIENCE_MS = 5_000;
export const ROUTE_LOOK_EVERY_MS = 1_000;
/** A thing that was unknown may become known (a signup is completed hours later): looked for again, half as long again as it has waited... */
export const ROUTE_SHORTEST_PAUSE_MS = MINUTE_MS;
/** ...at most so long... */
export const ROUTE_LONGEST_PAUSE_MS = 6 * HOUR_MS;
/** ...and for a week. */
export const ROUTE_GIVE_UP_MS = 7 * DAY_MS;

// ---- Disputes

/** How long an alert may arrive after the refund that answered it: the MoR tries to deliver it for some hours (events API). */
export const ALERT_PATIENCE_MS = DAY_MS;
/** Ids kept of what a dispute or an alert named: its events name one payment, so more are somebody's mistake. */
export const DISPUTE_NAMES_MOST = 20;

// ---- Onboarding

/** Slow on purpose: a person reviews (onboarding API, "What the service does", 5). */
export const ONBOARDING_POLL_EVERY_MS = 3 * MINUTE_MS;
/** How often is looked which applications are to be asked for. */
export const ONBOARDING_LOOK_EVERY_MS = MINUTE_MS;
/** Longer than the calls of one step, so that two requests for one merchant never send at the same time. */
export const ONBOARDING_BUSY_MS = 30_000;

// ---- Webhook endpoints

/** After the first notification of a refusal, an endpoint has one an hour at most: strangers cause refusals without end. */
export const REFUSALS_TOLD_EVERY_MS = HOUR_MS;

// ---- Notifications

/** As Standard Webhooks asks for ("Operational considerations"): 15 to 30 seconds. */
export const NOTIFY_TIMEOUT_MS = 15_000;
/** Longer than a delivery may last: should this process die in it, another one tries again. */
export const NOTIFY_BUSY_MS = 30_000;
/** `review.due_soon` is sent so long before the deadline. */
export const REVIEW_DUE_SOON_MS = DAY_MS;
/** How often is looked for what belongs to no lane's step: deadlines, items of no invoice, what verify found. */
export const LOOK_OUT_EVERY_MS = 15_000;
/** What was delivered, or died, is forgotten after so long. */
export const NOTIFICATIONS_KEPT_DAYS = 30;

// ---- Verify

/** Work that began less than this ago is under way, not different. */
export const VERIFY_GRACE_MS = 2 * MINUTE_MS;
/**
 * An interrupted run resumes only while it is younger than this, counted from its first beginning. A day after that the next daily run
 * is due, which compares everything again: so nothing that a report says was compared longer ago than that.
 */
export const VERIFY_RESUME_WITHIN_MS = DAY_MS;
/**
 * A run that wrote nothing down for this long is dead: one that lives does so every 30 seconds, once the question under way is
 * answered or given up, which takes two minutes at most. Should it live after all, it finds itself taken up and ends.
 */
export const VERIFY_ABANDONED_AFTER_MS = 10 * MINUTE_MS;
/**
 * When the MoR tries to deliver an event, in seconds after it was made: at most 8 attempts, the first retry after 10 seconds, tripling
 * (events API, "Delivery"). By its other reading there is a ninth, hours later: with fewer tries more may be lost, and more is looked
 * up. The payment API does not say how long it tries; the same is assumed.
 */
export const MOR_ATTEMPTS_SEC = [0, 10, 40, 130, 400, 1_210, 3_640, 10_930] as const;

/** What seems lost is looked at once more after this pause: it may just have been on its way. */
export const VERIFY_SECOND_LOOK_MS = 2_000;
/** What is very young is looked at again after this: Stripe delivers within a second or two, and a decision follows within another. */
export const VERIFY_YOUNG_PAUSE_MS = 3_000;
/** A run writes down how far it is at the latest after this, so that others see that it lives. */
export const VERIFY_SAVE_WITHIN_MS = 30_000;
/** A run that is under way keeps others from making it, this long after it last wrote down how far it is. */
export const VERIFY_HELD_MS = 15 * MINUTE_MS;
/** Differences of a money kind that are looked at again by the next run: a request or two each. */
export const VERIFY_AGAIN_MOST = 1_000;
/** How far back the daily run looks: as far as Stripe lists events, and not before this installation was there. */
export const VERIFY_LOOK_BACK_MS = 30 * DAY_MS;
/** A daily run that could not ask everybody is made again after this. */
export const VERIFY_AGAIN_AFTER_MS = HOUR_MS;
/** How often each replica looks whether the daily run is due. */
export const VERIFY_LOOK_EVERY_MS = 5 * MINUTE_MS;
/** Stripe lists events for 30 days (Stripe docs, "Events"); an hour less, so that none runs out between two pages. */
export const STRIPE_EVENTS_KEPT_MS = 30 * DAY_MS - HOUR_MS;
/** A verdict may follow its invoice by this much: bank debits settle after days. */
export const VERDICT_LONGEST_MS = 30 * DAY_MS;

/** Marks that the daily run asks for at most: at the pace below an hour and a half; a million take 20 days. */
export const VERIFY_MARKS_A_RUN = 50_000;
/** For a person who waits for the answer: under a minute. */
export const VERIFY_MARKS_FOR_A_PERSON = 500;
/** Marks that wait for their look-up are counted up to here: a run is not to read a million of them for one number. */
export const MARKS_LEFT_COUNTED = 10_000;
/** The MoR's documents name no limit of requests: at most ten a second, after the first few. */
export const VERIFY_MARKS_PAUSE_MS = 100;
/** Verify tries so many sums of the refunds that may or may not be on a payment record: twelve of different amounts have as many, one more twice that. */
export const VERIFY_REFUND_SUMS_MOST = 4_096;

// ---- Imports

/** Wrong lines of an imported file that are named: more than a person mends before trying again. The others are counted. */
export const IMPORT_PROBLEMS_KEPT = 1_000;

// ---- Moves

/** A subscription moves at least so long before its next renewal: a person has a day to undo a mistake before money moves. */
export const MOVE_BEFORE_RENEWAL_MS = DAY_MS;
/** Stripe wants a due date for invoices that it does not charge; 30 days is what its Dashboard proposes. */
export const MOVED_DAYS_UNTIL_DUE = 30;
/** Tries of one request of a move, with pauses of 1, 2, 4 and 8 seconds. Then the command ends, and the next run goes on. */
export const MOVE_TRIES = 5;
export const MOVE_FIRST_PAUSE_MS = 1_000;
/** A person waits: a longer Retry-After is left to the next run. */
export const MOVE_LONGEST_PAUSE_MS = MINUTE_MS;
