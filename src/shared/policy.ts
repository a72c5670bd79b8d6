// The waits, numbers of tries and limits that more than one part shares or the core needs, with unit, reason and source. A
// feature has its own in its rules/limits.ts. An operator's own choices are settings (shared/config/settings.ts).

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

// ---- Calls: keys, retries, fresh reads

/** The safe life of an idempotency key. Stripe may forget it after 24 h. The MoR makes its processor's key from it. */
export const KEY_LIFE_MS = 23 * HOUR_MS;

/** Stripe replays a stored 500 as long as its key lives. After this time Crossbill searches for the call's effect. */
export const REPLAY_TIMEOUT_MS = MINUTE_MS;

/**
 * The pause before the first retry: short, since most failures are a dropped connection. The pause doubles each time,
 * up to RETRY_LONGEST_PAUSE_MS.
 */
export const RETRY_FIRST_PAUSE_MS = 1_000;
/** The longest pause between retries: during an outage of hours a call gets four tries an hour. */
export const RETRY_LONGEST_PAUSE_MS = 15 * MINUTE_MS;
/** The shortest pause between retries. Jitter never makes a pause shorter. */
export const RETRY_SHORTEST_PAUSE_MS = 500;
/** The pause between tries while Stripe or the MoR refuses our API key or account. Only a person can help then. */
export const RETRY_STOPPED_PAUSE_MS = MINUTE_MS;
/** The longest Retry-After Crossbill obeys. */
export const RETRY_AFTER_LONGEST_MS = HOUR_MS;

/** The pause between failed reads of our own account at Stripe. Events wait for this read. */
export const OWN_ACCOUNT_AGAIN_MS = 15_000;

/** The timeline shows only this many failed reads in a row. An outage must not fill the timeline. */
export const FAILED_READS_SHOWN = 3;
/** The timeline shows only this many failed tries of one call. It shows every refusal. */
export const FAILED_TRIES_SHOWN = 4;

/** Crossbill trusts a read of an invoice for this long: enough to decide and write. */
export const READ_FRESH_MS = 10_000;

/** The most lookups and calls in one claim of a lane. Then the worker releases the lane for a new claim. */
export const REQUESTS_A_CLAIM = 40;

/** A worker's lease on a lane. A living worker renews it in time. After a crash another worker takes the lane. */
export const LEASE_MS = 25_000;

/**
 * If a process dies during a call, at least this much of its lease on the lane is left. So after a gap of this length
 * in a lane's work, Stripe or the MoR may have received the call, and Crossbill may have no record of this try.
 */
export const CUT_OFF_AFTER_MS = 15_000;

/**
 * A process on a moved or swapping machine can stop for minutes and then send its call late. Meanwhile another process
 * has searched for the effect and found none. So Crossbill waits this long before it gives up the last call of a mark.
 */
export const STANDSTILL_MS = 5 * 60_000;

// ---- Workers: failing lanes, shared commits

/** The rules run until nothing changes, at most so many rounds in one step of a lane. No invoice ever needed eight. */
export const SETTLE_ROUNDS = 8;
/** Failed decisions before Crossbill parks the event, or opens an item about the lane. */
export const DECISION_TRIES = 10;
/** The pause between tries of a lane after DECISION_TRIES failures. The lane waits for a new release or a person. */
export const STUCK_LANE_EVERY_MS = HOUR_MS;
/** The longest wait of a step for a shared commit: a tenth of a call to Stripe. With 32 lanes, five steps share it. */
export const GATHER_MS = 15;

// ---- A caller waiting for the MoR's reply

/** A caller waits this long for the MoR's reply, then gets "not known yet". Most replies take seconds. */
export const REPLY_TIMEOUT_MS = 12_000;

/** The console waits this long for a reply, then shows the page without the reply. Most replies take a second. */
export const CONSOLE_TIMEOUT_MS = 3_000;
/** A list waits this long for the names of its customers. Then it shows their ids. */
export const NAMES_TIMEOUT_MS = 800;
/** A page reads this many customers from Stripe at the same time. */
export const NAMES_AT_ONCE = 8;
/** A list uses a customer's name for this long before it asks Stripe again. */
export const NAMES_KEPT_MS = 5 * MINUTE_MS;
/** The most customer names in one process's memory. */
export const NAMES_KEPT_AT_MOST = 2_000;

/** The pause before Crossbill checks again for the MoR's reply: short in the first second, when most replies arrive. */
export function replyPauseMs(waitedMs: number): number {
  return waitedMs < 1_000 ? 50 : 250;
}

// ---- Renewals: marks, drafts, alarms

/** The most tries of a refused mark, each after a fresh read of the invoice. Then a person decides. */
export const MARK_TRIES = 2;

/**
 * A draft older than this is stuck. Stripe finalizes a draft after one hour, or after 72 hours if nobody answers
 * `invoice.created`. Stripe does not finalize an older draft automatically.
 */
export const DRAFT_TIMEOUT_MS = 73 * HOUR_MS;
/** Stripe finalizes a draft after an hour, unless Stripe names another time (Stripe docs, "Invoice finalization"). */
export const DRAFT_USUAL_LIFE_MS = HOUR_MS;
/** The first read of a draft comes this long after its expected end, because `invoice.finalized` may get lost. */
export const DRAFT_POLL_AFTER_MS = MINUTE_MS;
/** The longest pause between reads of a draft. A draft without a known end uses this pause from the start. */
export const DRAFT_POLL_EVERY_MS = 15 * MINUTE_MS;
/** The pause between reads of a draft after a failed finalization. The draft waits for a person. */
export const DRAFT_FAILED_POLL_EVERY_MS = HOUR_MS;

/**
 * Crossbill reads an invoice older than this before it relays `invoice.created`: the invoice may be void by now. A
 * younger invoice is still a draft.
 */
export const RELAY_LATE_MS = HOUR_MS;
/** After so many failed reads (nine minutes) Crossbill relays without a read: an outage must not stop a renewal. */
export const RELAY_READ_TRIES = 10;

// ---- Signups

/** Crossbill asks the MoR about a signup's charge for this long. Then a person decides. */
export const PROVE_TIMEOUT_MS = 2 * HOUR_MS;
/** The first pause between checks of money under way: a card takes a second. Later pauses are longer. */
export const PROVE_FIRST_PAUSE_MS = 1_000;
/** The longest pause between checks of money under way: a bank debit takes days. */
export const PROVE_LONGEST_PAUSE_MS = HOUR_MS;
/** While the MoR does not know a charge, the pause doubles this many times: up to about two minutes. */
export const PROVE_DOUBLINGS = 8;

/** Stripe ends an incomplete subscription after 23 hours and voids its first invoice (Stripe docs, "Subscriptions"). */
export const SIGNUP_ENDS_MS = 23 * HOUR_MS;
/** A signup without a payment becomes a review item at this age, five hours before Stripe ends the subscription. */
export const SIGNUP_OVERDUE_MS = 18 * HOUR_MS;
/** The MoR takes a tax calculation this long (Document 2). */
export const TAX_CALCULATION_LIFE_MS = 7 * DAY_MS;

/** How long one request locks a signup: longer than a call to the MoR. Two requests with one key never overlap. */
export const SIGNUP_BUSY_MS = 15_000;
/** The pause between checks whether another request with the same key has ended. */
export const BUSY_POLL_EVERY_MS = 50;

/** The pause between a replica's searches for newly confirmed payment methods: a decision follows in a second. */
export const METHODS_POLL_EVERY_MS = 1_000;
/** One search reads at most this many confirmed payment methods. The next search reads the others. */
export const METHODS_A_POLL = 100;
/** The pause between a replica's searches for signups without a payment. */
export const SIGNUP_POLL_EVERY_MS = 5 * MINUTE_MS;
/** Crossbill looks for signups without a payment among those begun within this time. Older ones have their item. */
export const SIGNUP_FLAGGED_WITHIN_MS = 30 * DAY_MS;

// ---- Refunds

/**
 * Days until an unfinished refund becomes a review item, by its status. Bank debits take days. A reply of the MoR takes
 * less than a day.
 */
export const REFUND_TIMEOUT_DAYS = { pending: 10, unknown: 1, requested: 1 } as const;
/** Days until a dismissed item about an unfinished refund opens again. The refund still reserves its amount. */
export const REFUND_REMINDER_DAYS = 10;

// ---- Bank transfers and payment links

/** A transfer is late this long after its due date. Banks take days, and customers longer. */
export const TRANSFER_LATE_MS = 30 * DAY_MS;
/** The assumed term of a proforma invoice without a known due date. */
export const PROFORMA_USUAL_TERM_MS = 30 * DAY_MS;
/** The first pause before a read of an object at the MoR, in case a webhook gets lost. Later pauses are longer. */
export const OBJECT_FIRST_POLL_MS = MINUTE_MS;
/** The longest pause between reads of an object at the MoR. */
export const OBJECT_LONGEST_PAUSE_MS = DAY_MS;
/** The last read of an expired payment link comes this long after its end. A payment in the last minute counts. */
export const LINK_LAST_POLL_AFTER_MS = MINUTE_MS;
/** The most reads of a payment link to confirm an announced capture, over about two minutes. Then a person decides. */
export const LINK_CONFIRM_TRIES = 8;

// ---- Retries of refused renewals

/**
 * The most steps of a retry schedule for one kind of refusal. Stripe itself tries at most eight times (Stripe docs,
 * "Automate payment retries").
 */
export const RETRY_STEPS_MOST = 8;

// ---- Events without an invoice

/** How long an event without an invoice waits: a reply to our call, or the payment's event, may bring the invoice. */
export const ROUTE_TIMEOUT_MS = 5_000;
export const ROUTE_POLL_EVERY_MS = 1_000;
/** The shortest pause between searches for the invoice of an event. Each pause is half of the time waited so far. */
export const ROUTE_SHORTEST_PAUSE_MS = MINUTE_MS;
/** The longest pause between searches for the invoice of an event. */
export const ROUTE_LONGEST_PAUSE_MS = 6 * HOUR_MS;
/** After this time Crossbill no longer searches for the invoice of an event. */
export const ROUTE_GIVE_UP_MS = 7 * DAY_MS;

// ---- Webhook endpoints

/** The shortest time between two notifications about refusals at one endpoint. Strangers can cause endless refusals. */
export const REFUSALS_NOTIFIED_EVERY_MS = HOUR_MS;

// ---- Verify

/** How far back the daily run looks: as far as Stripe lists events, but not before the first start of Crossbill. */
export const VERIFY_LOOKBACK_MS = 30 * DAY_MS;

/** Stripe lists events for 30 days (Stripe docs, "Events"). One hour less: no event expires between two pages. */
export const STRIPE_EVENTS_KEPT_MS = 30 * DAY_MS - HOUR_MS;

// ---- Imports

/** The report of an import lists at most this many wrong lines. Nobody corrects more before the next try. */
export const IMPORT_PROBLEMS_KEPT = 1_000;

// ---- Moves

/**
 * Days until the due date of a moved subscription's invoices. Stripe does not charge these invoices itself, so it
 * demands a due date. Stripe's Dashboard proposes 30 days.
 */
export const MOVED_DAYS_UNTIL_DUE = 30;
