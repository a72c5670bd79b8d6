// Looks up the marks on Stripe at the MoR, each one once: a first run over a million takes days.
import { type MarkAnswer, type MarkedPayment, type MarksStore } from './marks.store.js';
import { type Difference } from '../domain/difference.js';
import { difference } from './rules/compare.js';
import { type VerifyFindings } from './verify-findings.js';
import { VERIFY_PAGE, type VerifyParts } from './verify-parts.js';
import { type VerifyQuestions } from './verify-questions.js';
import { MARKS_LEFT_COUNTED, VERIFY_MARKS_A_RUN, VERIFY_MARKS_FOR_A_PERSON, VERIFY_MARKS_PAUSE_MS } from '../policy.js';

const AT_ONCE = 50;
/** An entry may become visible so long after one with a higher number, in milliseconds; a statement lasts seconds. */
const WRITTEN_WITHIN_MS = 10 * 60_000;
/** "404: not yet or never": Crossbill asks again after this pause. */
const NOT_YET_MS = 3_000;
/** Named marks without a charge at the MoR. */
const MOST_NAMED = 10_000;

export class VerifyMarks {
  private asked = 0;
  private readonly most: number;
  private readonly lookups: MarksStore;

  constructor(
    private readonly parts: VerifyParts,
    private readonly questions: VerifyQuestions,
    private readonly findings: VerifyFindings,
  ) {
    this.most = questions.sitting.young ? VERIFY_MARKS_FOR_A_PERSON : VERIFY_MARKS_A_RUN;
    this.lookups = parts.books.marks;
  }

  /** The number of marks still to look up; null: the run does not ask the MoR. */
  async all(): Promise<number | null> {
    const { context } = this.parts;
    if (context.settings.signupChargeCheck === 'off') return null;
    await this.again();
    const fresh = await this.newer();
    await this.older();
    if (fresh.length > 0) {
      await context.clock.sleep(NOT_YET_MS, this.questions.sitting.signal);
      for (const mark of fresh.slice(0, VERIFY_MARKS_FOR_A_PERSON)) await this.ask(mark);
    }
    this.findings.addShown((await this.lookups.unknown(MOST_NAMED)).map(notKnown));
    return this.lookups.left(MARKS_LEFT_COUNTED);
  }

  /** The MoR may know earlier unknown charges by now. */
  private async again(): Promise<void> {
    const before = this.parts.context.clock.now();
    for (const mark of await this.lookups.open(before, this.most)) await this.ask(mark);
  }

  /** Returns the marks unknown to the MoR. */
  private async newer(): Promise<readonly MarkedPayment[]> {
    const { clock } = this.parts.context;
    const unknown: MarkedPayment[] = [];
    for (let after = 0n; this.asked < this.most;) {
      const page = await this.lookups.newer(after, VERIFY_PAGE);
      for (const mark of page) if ((await this.ask(mark)) === 'unknown') unknown.push(mark);
      after = page.at(-1)?.entryId ?? after;
      if (after > 0n) await this.lookups.reachedNewer(after, new Date(clock.now().getTime() - WRITTEN_WITHIN_MS));
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

  private async ask(mark: MarkedPayment): Promise<MarkAnswer | null> {
    const { context, gateway } = this.parts;
    const { chargeId } = mark;
    if (chargeId === null) return null;
    if (++this.asked > AT_ONCE) await context.clock.sleep(VERIFY_MARKS_PAUSE_MS, this.questions.sitting.signal);
    const look = () => gateway.lookUpCharge(chargeId);
    const state = await this.questions.ask(look, 'a charge could not be looked up at the MoR');
    const answer = state === 'charged' ? 'known' : state === 'pending' ? 'not_ready' : 'unknown';
    await this.lookups.answered(mark, answer, context.clock.now());
    await this.questions.sitting.step('marks', 1);
    return answer;
  }
}

function notKnown({ invoiceId, paymentId, paymentRowId, chargeId }: MarkedPayment): Difference {
  const detail = `the MoR does not know charge ${chargeId ?? ''}, with which this invoice was marked paid`;
  return difference('marked_not_charged', 'person', detail, { invoiceId, paymentId: paymentId ?? paymentRowId });
}
