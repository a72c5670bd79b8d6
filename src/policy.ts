// Every wait, number of tries and limit of the rules, with unit, reason and source. An operator's own choices are settings
// (config/settings.ts).

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

// ---- Calls: keys, retries, fresh reads

/** The life of an idempotency key. Stripe may prune a key after 24 h, and the MoR makes its processor keys from ours. */
export const KEY_LIFE_MS = 23 * HOUR_MS;

/** Stripe replays a stored 500 for the life of its key: after this time Crossbill looks for the effect instead. */
export const REPLAY_PATIENCE_MS = MINUTE_MS;

/** Most failures are a dropped connection, so the first retry follows in about a second. The pauses double from here... */
export const RETRY_FIRST_PAUSE_MS = 1_000;
/** ...to here: an outage of hours costs four tries an hour. */
export const RETRY_LONGEST_PAUSE_MS = 15 * MINUTE_MS;
/** The shortest pause with jitter. */
export const RETRY_SHORTEST_PAUSE_MS = 500;
/** A peer refuses our key or our account, and only a person can change it: Crossbill tries once a minute. */
export const RETRY_STOPPED_PAUSE_MS = MINUTE_MS;
/** The longest Retry-After that Crossbill obeys. */
export const RETRY_AFTER_LONGEST_MS = HOUR_MS;

/** Between failed reads of the key's own account. Events wait for this read. */
export const OWN_ACCOUNT_AGAIN_MS = 15_000;

/** Failed reads and look-ups in the timeline: an outage must not fill it. */
export const FAILED_READS_SHOWN = 3;
/** Failed tries of one call in the timeline. It shows every refusal. */
export const FAILED_TRIES_SHOWN = 4;

/** A read of an invoice stays fresh so long: enough to decide and write. */
export const READ_FRESH_MS = 10_000;

/** Errands in one claim of a lane. More suggest a loop: the lane goes to the end of the queue. */
export const ERRANDS_A_CLAIM = 40;

/** After this time another worker takes a crashed worker's lanes. A living worker renews its leases earlier. DESIGN 5: at most 30 s. */
export const LEASE_MS = 25_000;

/** A process that dies during a call leaves its lane for at least this rest of its lease. A later try may have an unrecorded one before it. */
export const CUT_OFF_AFTER_MS = 15_000;

/**
 * On a moved or swapping machine a process stands still, and may send its call late: another process has already looked for the effect and
 * found none. Crossbill waits this long before it takes back the end of a mark.
 */
export const STANDSTILL_MS = 5 * 60_000;

// ---- Workers: failing lanes, shared commits

/** After so many failed decisions Crossbill parks the event, or opens an item about the lane. */
export const DECISION_TRIES = 10;
/** Between tries of a lane with such an item: it waits for a new release or for a person. */
export const STUCK_LANE_EVERY_MS = HOUR_MS;
/**
 * The longest wait of a step for a shared commit: a tenth of one call to Stripe. At 150 ms a call and 32 lanes, five steps then share one
 * commit.
 */
export const GATHER_MS = 15;

// ---- A caller waits for the MoR's answer

/** The MoR usually answers within seconds. Then the caller hears that nothing is known yet, and Crossbill continues. */
export const ANSWER_PATIENCE_MS = 12_000;

/** The console shows its page by now at the latest, and refreshes it later. Most answers take a second. */
export const CONSOLE_PATIENCE_MS = 3_000;
/** A list waits so long for its customers' names. Then it shows their ids. */
export const NAMES_PATIENCE_MS = 800;
/** Reads of customers at one time for one page. */
export const NAMES_AT_ONCE = 8;
/** Within this time a list asks Stripe for no name again. */
export const NAMES_KEPT_MS = 5 * MINUTE_MS;
/** Names in the memory of one process. */
export const NAMES_KEPT_AT_MOST = 2_000;

/** Before the next look for an answer: short during the first second, when most answers arrive. */
export function answerPauseMs(waitedMs: number): number {
  return waitedMs < 1_000 ? 50 : 250;
}

// ---- Renewals: marks, drafts, alarms

/** Refused tries of a mark, each after a fresh read, before a person decides. */
export const MARK_TRIES = 2;

/**
 * A draft is stuck after this time. Stripe finalizes a draft after an hour, or after 72 without an answer to `invoice.created`. An older one
 * with money has no automatic advancement.
 */
export const DRAFT_PATIENCE_MS = 73 * HOUR_MS;
/** Stripe finalizes a draft an hour after its creation (Stripe docs, "Invoice finalization"), unless it names a time. */
export const DRAFT_USUAL_LIFE_MS = HOUR_MS;
/** In case `invoice.finalized` never arrives, Crossbill reads the draft so long after its time, then at growing pauses... */
export const DRAFT_LOOK_AFTER_MS = MINUTE_MS;
/** ...up to this one. It is also the pause for a draft without a time. */
export const DRAFT_LOOK_EVERY_MS = 15 * MINUTE_MS;
/** Between reads of a draft after a failed finalization: it waits for a person. */
export const DRAFT_FAILED_LOOK_EVERY_MS = HOUR_MS;

/** Crossbill reads an older invoice before it relays its `invoice.created`. Within the draft's hour the read is not needed. */
export const RELAY_LATE_MS = HOUR_MS;
/** Failed reads in a row before a relay without one: some nine minutes. After a burst of 429 the invoice may be void. */
export const RELAY_READ_TRIES = 10;

// ---- Enrolment

/** After so long without an answer about a customer's enrolment a person decides. The draft's hour is over, without a relay. */
export const ENROLMENT_PATIENCE_MS = HOUR_MS;
/**
 * The MoR charges from the link on. An older invoice is in Stripe's own dunning, and ours only if the MoR pays it. Days, not minutes: the
 * link may follow a while after the MoR's first charge.
 */
export const LINK_REACHES_BACK_MS = 3 * DAY_MS;

// ---- Possible charges by Stripe

/**
 * A look at a subscription's methods is good so long. A customer can save a card in the portal any day. The events of one renewal take an
 * hour or three days, and `doctor --all` looks at a hundred subscriptions with one request.
 */
export const CHARGE_LOOK_GOOD_MS = DAY_MS;
/** A renewal marked within seconds is out of Stripe's reach, and needs no look. */
export const CHARGE_LOOK_AFTER_MS = 5_000;
/** Between looks at a draft that Stripe would charge: a fix must show within the hour. */
export const CHARGE_LOOK_DRAFT_MS = 5 * MINUTE_MS;
/** Between looks at an open invoice that Stripe would charge: its retries are days apart. */
export const CHARGE_LOOK_OPEN_MS = 6 * HOUR_MS;
/** Failed looks in a row. Then the invoice continues without one. */
export const CHARGE_LOOK_TRIES = 8;

/** Rounds of decisions in one step. Each settles one thing; no invoice ever needed eight. */
export const SETTLE_ROUNDS = 8;

// ---- Signups

/** After so long without the charge at the MoR a person decides. */
export const PROVE_PATIENCE_MS = 2 * HOUR_MS;
/** Looks at money on its way, at pauses that grow with its age: from a second (a card)... */
export const PROVE_FIRST_PAUSE_MS = 1_000;
/** ...to an hour (a bank debit takes days). */
export const PROVE_LONGEST_PAUSE_MS = HOUR_MS;
/** The pauses for an unknown charge double so often: up to about two minutes. */
export const PROVE_DOUBLINGS = 8;

/** Stripe ends an incomplete subscription 23 hours after its creation, and voids its first invoice (Stripe docs, "Subscriptions"). */
export const SIGNUP_ENDS_MS = 23 * HOUR_MS;
/** A signup without a payment becomes an item five hours before its end. */
export const SIGNUP_OVERDUE_MS = 18 * HOUR_MS;

/** Longer than one call to the MoR: two requests with one key never send at the same time. */
export const SIGNUP_BUSY_MS = 15_000;
/** Between looks for the end of another request with the same key. */
export const BUSY_LOOK_EVERY_MS = 50;

/** Between looks of a replica for newly confirmed payment methods: a decision follows its event within a second. The look reads an index. */
export const METHODS_LOOK_EVERY_MS = 1_000;
/** Confirmed methods in one look. The next look takes the rest. */
export const METHODS_A_LOOK = 100;

/** Between looks of a replica for signups without a payment. */
export const SIGNUP_LOOK_EVERY_MS = 5 * MINUTE_MS;
/** Crossbill flags no older signup: it was flagged before, or no daemon ran for a month. */
export const SIGNUP_FLAGGED_WITHIN_MS = 30 * DAY_MS;

// ---- Refunds

/** Days until a refund without an end becomes an item, by its status. Bank debits take days; an answer takes less than one. */
export const REFUND_PATIENCE_DAYS = { pending: 10, unknown: 1, requested: 1 } as const;
/** Days until its dismissed item opens again: its amount stays reserved. */
export const REFUND_REMINDER_DAYS = 10;

// ---- Bank transfers and payment links

/** A transfer's event may follow a read of its state by so much: the MoR delivers for some hours (events API). */
export const TRANSFER_PATIENCE_MS = HOUR_MS;
/** Crossbill waits so long after the due date: banks take days, and customers longer. */
export const TRANSFER_LATE_MS = 30 * DAY_MS;
/** The term of a proforma invoice without a known due date. */
export const PROFORMA_USUAL_TERM_MS = 30 * DAY_MS;
/** A webhook may be lost: Crossbill reads objects of the MoR at pauses that grow with their age, from a minute... */
export const OBJECT_FIRST_LOOK_MS = MINUTE_MS;
/** ...to a day. */
export const OBJECT_LONGEST_PAUSE_MS = DAY_MS;
/** The last read of an expired link: a payment in its last minute counts. */
export const LINK_LAST_LOOK_AFTER_MS = MINUTE_MS;
/** Reads of a link against its announced capture, about two minutes. Then a person decides. */
export const LINK_CONFIRM_TRIES = 8;
/** Without a usable answer about a link the MoR counts as away for so long, longer than an outage of a day. Then a person decides. */
export const LINK_SILENT_MS = 2 * DAY_MS;
/** Automatic links for one invoice: at a week each they outlast every schedule. */
export const RECOVERY_LINKS_MOST = 3;

// ---- Retries of refused renewals

/**
 * Stripe's first `invoice.payment_attempt_required` arrives with the finalization, about an hour after the MoR's news, and means the refused
 * charge. Later ones are at least a day apart (Stripe docs, "Automate payment retries").
 */
export const RETRY_ASKED_AFTER_MS = 12 * HOUR_MS;
/** A refusal so long before a retry belongs to an earlier try. No accepted clock is wrong by more than minutes (WEBHOOK_TOLERANCE_SEC). */
export const CLOCKS_APART_MS = HOUR_MS;
/** Steps for one kind of refusal. Stripe's own recovery tries at most eight times (Stripe docs, "Automate payment retries"). */
export const RETRY_STEPS_MOST = 8;

// ---- Events without an invoice

/** The answer to our own call, or the payment's event, may be under way. */
export const ROUTE_PATIENCE_MS = 5_000;
export const ROUTE_LOOK_EVERY_MS = 1_000;
/** An unknown object may become known, as with a signup completed hours later: each pause is half of the time so far, from here... */
export const ROUTE_SHORTEST_PAUSE_MS = MINUTE_MS;
/** ...to here... */
export const ROUTE_LONGEST_PAUSE_MS = 6 * HOUR_MS;
/** ...for a week. */
export const ROUTE_GIVE_UP_MS = 7 * DAY_MS;

// ---- Disputes

/** An alert may follow its refund by so much: the MoR delivers for some hours (events API). */
export const ALERT_PATIENCE_MS = DAY_MS;
/** Kept ids of a dispute or an alert. Its events name one payment: more are a mistake. */
export const DISPUTE_NAMES_MOST = 20;

// ---- Onboarding

/** Slow on purpose: a person reviews (onboarding API, "What the service does", 5). */
export const ONBOARDING_POLL_EVERY_MS = 3 * MINUTE_MS;
/** Between looks for due applications. */
export const ONBOARDING_LOOK_EVERY_MS = MINUTE_MS;
/** Longer than the calls of one step: two requests for one merchant never send at the same time. */
export const ONBOARDING_BUSY_MS = 30_000;

// ---- Webhook endpoints

/** Between notifications of refusals at one endpoint, after the first: strangers cause refusals without end. */
export const REFUSALS_TOLD_EVERY_MS = HOUR_MS;

// ---- Notifications

/** Standard Webhooks wants 15 to 30 seconds ("Operational considerations"). */
export const NOTIFY_TIMEOUT_MS = 15_000;
/** Longer than a delivery: after a crash another process tries again. */
export const NOTIFY_BUSY_MS = 30_000;
/** `review.due_soon` comes so long before the deadline. */
export const REVIEW_DUE_SOON_MS = DAY_MS;
/** Between looks for news outside the lanes: deadlines, items without an invoice, findings of verify. */
export const LOOK_OUT_EVERY_MS = 15_000;
/** The database keeps delivered and dead notifications so long. */
export const NOTIFICATIONS_KEPT_DAYS = 30;

// ---- Verify

/** Younger work is under way, and no difference. */
export const VERIFY_GRACE_MS = 2 * MINUTE_MS;
/** A run may resume within a day of its first start. Then the next daily run compares everything again. */
export const VERIFY_RESUME_WITHIN_MS = DAY_MS;
/**
 * A run without a save for so long is dead. A living run saves every 30 seconds, or after its current question of at most two minutes. If it
 * lives all the same, it sees that another run resumed it, and ends.
 */
export const VERIFY_ABANDONED_AFTER_MS = 10 * MINUTE_MS;
/**
 * The MoR's attempts of one delivery, in seconds after the event: at most 8, the first retry after 10 seconds, tripling (events API,
 * "Delivery"). Another reading has a ninth, hours later. Fewer attempts mean more look-ups, which is safe. The payment API names none.
 */
export const MOR_ATTEMPTS_SEC = [0, 10, 40, 130, 400, 1_210, 3_640, 10_930] as const;

/** Before the second look at a missing event: it may be on its way. */
export const VERIFY_SECOND_LOOK_MS = 2_000;
/** Before the second look at a young object: Stripe delivers within two seconds, and a decision takes one more. */
export const VERIFY_YOUNG_PAUSE_MS = 3_000;
/** The longest time between two saves of a run: others see that it lives. */
export const VERIFY_SAVE_WITHIN_MS = 30_000;
/** No other replica starts the run for so long after its last save. */
export const VERIFY_HELD_MS = 15 * MINUTE_MS;
/** Differences of money compared again by the next run, at one or two requests each. */
export const VERIFY_AGAIN_MOST = 1_000;
/** The reach of the daily run: Stripe's list of events, and not before this installation. */
export const VERIFY_LOOK_BACK_MS = 30 * DAY_MS;
/** Before the next try of an incomplete daily run. */
export const VERIFY_AGAIN_AFTER_MS = HOUR_MS;
/** Between looks of a replica for a due daily run. */
export const VERIFY_LOOK_EVERY_MS = 5 * MINUTE_MS;
/** Stripe lists events for 30 days (Stripe docs, "Events"). An hour less: no event expires between two pages. */
export const STRIPE_EVENTS_KEPT_MS = 30 * DAY_MS - HOUR_MS;
/** A verdict may follow its invoice by so much: bank debits settle after days. */
export const VERDICT_LONGEST_MS = 30 * DAY_MS;

/** Marks in one daily run: an hour and a half at the pace below. A million takes 20 days. */
export const VERIFY_MARKS_A_RUN = 50_000;
/** Marks in one run for a person: under a minute. */
export const VERIFY_MARKS_FOR_A_PERSON = 500;
/** The count of waiting marks stops here: a run must not read a million rows for one number. */
export const MARKS_LEFT_COUNTED = 10_000;
/** The MoR's documents name no limit of requests: at most ten a second, after the first few. */
export const VERIFY_MARKS_PAUSE_MS = 100;
/** Sums of unsure refunds on one payment record: twelve different amounts have so many. */
export const VERIFY_REFUND_SUMS_MOST = 4_096;

// ---- Imports

/** Named wrong lines of an import: more than a person mends before the next try. */
export const IMPORT_PROBLEMS_KEPT = 1_000;

// ---- Moves

/** A subscription moves at least so long before its next renewal: a person has a day to undo a mistake. */
export const MOVE_BEFORE_RENEWAL_MS = DAY_MS;
/** Stripe wants a due date for invoices without a charge. Its Dashboard proposes 30 days. */
export const MOVED_DAYS_UNTIL_DUE = 30;
/** Tries of one request of a move, with pauses of 1, 2, 4 and 8 seconds. Then the command ends, and the next run continues. */
export const MOVE_TRIES = 5;
export const MOVE_FIRST_PAUSE_MS = 1_000;
/** A person waits: the next run obeys a longer Retry-After. */
export const MOVE_LONGEST_PAUSE_MS = MINUTE_MS;
