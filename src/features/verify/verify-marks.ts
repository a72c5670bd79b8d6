// Looks up the marks on Stripe at the MoR. The first pass over a million marks takes days.
import { type MarkReply, type MarkedPayment, type MarksRepository } from './marks.repository.js';
import { finding } from './rules/findings.js';
import { VERIFY_PAGE, type VerifySession } from './verify-session.js';
import {
  MARKS_LEFT_COUNTED,
  VERIFY_MARKS_A_RUN,
  VERIFY_MARKS_FOR_A_PERSON,
  VERIFY_MARKS_PAUSE_MS,
} from './rules/limits.js';

const AT_ONCE = 50;
/**
 * A ledger entry may become visible at most this long after an entry with a higher number, in milliseconds. A statement
 * ends within seconds, so the limit is ample.
 */
const WRITTEN_WITHIN_MS = 10 * 60_000;
/** The pause after a 404, in milliseconds. A 404 may mean "not yet", so Crossbill asks again. */
const NOT_YET_MS = 3_000;
/** The report names at most this many marks with a charge unknown to the MoR. */
const MOST_NAMED = 10_000;

export class VerifyMarks {
  private asked = 0;
  private readonly most: number;
  private readonly lookups: MarksRepository;

  constructor(private readonly session: VerifySession) {
    this.most = session.options.recent ? VERIFY_MARKS_FOR_A_PERSON : VERIFY_MARKS_A_RUN;
    this.lookups = session.parts.books.marks;
  }

  /** Looks up the marks. Returns how many are left. Null: the run does not ask the MoR. */
  async all(): Promise<number | null> {
    const { parts, findings } = this.session;
    if (parts.context.settings.signupChargeCheck === 'off') return null;
    await this.again();
    const fresh = await this.newer();
    await this.older();
    if (fresh.length > 0) {
      await this.session.sleep(NOT_YET_MS);
      for (const mark of fresh.slice(0, VERIFY_MARKS_FOR_A_PERSON)) await this.ask(mark);
    }
    for (const { invoiceId, paymentId, paymentRowId, chargeId } of await this.lookups.unknown(MOST_NAMED)) {
      const about = { invoiceId, paymentId: paymentId ?? paymentRowId };
      findings.addShown([finding.unknownCharge(about, { charge: chargeId ?? '' })]);
    }
    return this.lookups.left(MARKS_LEFT_COUNTED);
  }

  /** Asks the MoR again about charges it did not confirm at the last look-up. */
  private async again(): Promise<void> {
    for (const mark of await this.lookups.open(this.session.now(), this.most)) await this.ask(mark);
  }

  /** Looks up the marks of `MarksRepository.newer`. Returns the marks with a charge unknown to the MoR. */
  private async newer(): Promise<readonly MarkedPayment[]> {
    const unknown: MarkedPayment[] = [];
    for (let after = 0n; this.asked < this.most;) {
      const page = await this.lookups.newer(after, VERIFY_PAGE);
      for (const mark of page) if ((await this.ask(mark)) === 'unknown') unknown.push(mark);
      after = page.at(-1)?.entryId ?? after;
      if (after > 0n)
        await this.lookups.reachedNewer(after, new Date(this.session.now().getTime() - WRITTEN_WITHIN_MS));
      if (page.length < VERIFY_PAGE) break;
    }
    return unknown;
  }

  private async older(): Promise<void> {
    while (this.asked < this.most) {
      const page = await this.lookups.older(VERIFY_PAGE);
      const last = page.at(-1);
      if (last === undefined) return;
      for (const mark of page) await this.ask(mark);
      await this.lookups.reachedOlder(last.entryId, page.length);
    }
  }

  private async ask(mark: MarkedPayment): Promise<MarkReply | null> {
    const { session: verifySession } = this;
    const { chargeId } = mark;
    if (chargeId === null) return null;
    if (++this.asked > AT_ONCE) await verifySession.sleep(VERIFY_MARKS_PAUSE_MS);
    const read = () => verifySession.parts.gateway.lookUpCharge(chargeId);
    const state = await verifySession.ask(read, 'a charge could not be looked up at the MoR');
    const reply = state === 'charged' ? 'known' : state === 'pending' ? 'not_ready' : 'unknown';
    await this.lookups.answered(mark, reply, verifySession.now());
    await verifySession.step('marks', 1);
    return reply;
  }
}
