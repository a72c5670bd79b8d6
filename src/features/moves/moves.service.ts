// Moves subscriptions from Stripe's own collection to the MoR, or back, one after the other. Crossbill stores each
// request before the first send.
import { EnrolmentPort, EVERYBODY_ENROLLED } from '../../shared/domain/ports/enrolment.js';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { refuseUnsent } from '../../engine/commanded.js';
import { BillingMoves, type MovableSubscription } from '../../shared/domain/ports/billing-moves.js';
import { type CallOutcome } from '../../shared/domain/ports/call.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { type DecisionSettings } from '../../shared/domain/settings.js';
import { carries, ruleOf } from '../../shared/domain/enrolment.js';
import { PaymentMethodsRepository } from '../../core/customers/payment-methods.repository.js';
import { DECISION_SETTINGS } from '../../engine/decision-context.js';
import { type MoveEntity } from './move.entity.js';
import { type Decided, decideBack, decideMove, type Ground, type MoveFact } from './move.rules.js';
import { MoveSteps, MoveStopped } from './move-steps.js';
import { MovesRepository } from './moves.repository.js';

export type MoveOptions = {
  readonly direction: 'move' | 'back';
  /** True: the run reads and decides, but writes nothing. */
  readonly dryRun: boolean;
  /** The chosen customers. Null: all linked customers, or with `back` all customers with a move. */
  readonly customerIds: readonly string[] | null;
  /** With `back`: a person confirms the MoR no longer charges these customers on its own. */
  readonly morStopped: boolean;
  readonly by: string;
  readonly signal: AbortSignal;
  readonly onDone: (done: MoveDone, count: MoveCount) => void;
};

/** The result for one subscription. `known`: an earlier run did it. `would`: not done, because this is a dry run. */
export const MOVE_RESULTS = ['done', 'known', 'would', 'skipped', 'failed'] as const;
export type MoveResult = (typeof MOVE_RESULTS)[number];
export type MoveDone = {
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly renewsAt: Date | null;
  readonly result: MoveResult;
  readonly fact: MoveFact | null;
};
export type MoveCount = Record<MoveResult, number>;

/** The error if a run cannot begin, with the reason. */
export class MoveRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const ROWS_AT_ONCE = 100;

@Injectable()
export class MovesService {
  constructor(
    private readonly moves: MovesRepository,
    private readonly billing: BillingMoves,
    private readonly steps: MoveSteps,
    private readonly methods: PaymentMethodsRepository,
    private readonly clock: Clock,
    @Inject(DECISION_SETTINGS) private readonly settings: DecisionSettings,
    @Optional() @Inject(EnrolmentPort) private readonly enrolment: EnrolmentPort = EVERYBODY_ENROLLED,
  ) {}

  /**
   * Moves the subscriptions. Throws MoveRefused before any change, MoveRunning while another run works, and MoveStopped
   * if the run can't continue.
   */
  async run(options: MoveOptions): Promise<MoveCount> {
    await this.check(options);
    return this.moves.exclusively(async () => {
      const count: MoveCount = { done: 0, known: 0, would: 0, skipped: 0, failed: 0 };
      const tell = (done: MoveDone): void => {
        count[done.result]++;
        options.onDone(done, count);
      };
      if (options.direction === 'back') await this.back(options, tell);
      else for await (const s of this.subscriptions(options)) tell(await this.one(s, options));
      return count;
    });
  }

  private async check({ direction, dryRun, customerIds, morStopped }: MoveOptions): Promise<void> {
    if (this.settings.sendsNothing === true && !dryRun) {
      const { code, message } = refuseUnsent();
      throw new MoveRefused(code, message);
    }
    if (direction === 'back' && ruleOf({ settings: this.settings }).by === 'all')
      throw new MoveRefused(
        'enrolment_all',
        'With ENROLMENT=all every invoice goes to the MoR, so Stripe and the MoR would both charge. Set ENROLMENT=linked first, restart the daemon, and run this again. Nothing was changed.',
      );
    const { relay } = this.settings;
    const isReportedByStripe = relay === null || relay === 'retries';
    if (direction === 'back' && isReportedByStripe && !morStopped)
      throw new MoveRefused(
        'mor_hears_stripe',
        'Without MOR_RELAY_URL, or with MOR_RELAY_EVENTS=retries, the MoR gets invoice.created from Stripe and would charge these customers as well. Ask the MoR to stop charging them, then run this again with --mor-stopped. Nothing was changed.',
      );
    const linked = await this.moves.linked(customerIds ?? []);
    const stranger = customerIds?.find((id) => !linked.has(id));
    if (stranger !== undefined)
      throw new MoveRefused(
        'not_linked',
        `Customer ${stranger} is not linked to a customer of the MoR. Link it first (crossbill import customers). Nothing was changed.`,
      );
  }

  /** The running subscriptions of the chosen customers, or of all linked customers. */
  private async *subscriptions({ customerIds, signal }: MoveOptions): AsyncGenerator<MovableSubscription> {
    for (const id of customerIds ?? []) yield* known(await this.billing.ofCustomer(id), signal);
    for (let at: string | null | undefined; customerIds === null && at !== null;) {
      const { items, next } = known(await this.billing.list(at ?? null), signal);
      const linked = await this.moves.linked(items.map((s) => s.customerId));
      yield* items.filter((s) => linked.has(s.customerId));
      at = next;
    }
  }

  private async one(listed: MovableSubscription, options: MoveOptions): Promise<MoveDone> {
    if (options.signal.aborted) throw interrupted();
    const row = await this.moves.find(listed.subscriptionId);
    const methods = (await this.methods.of([listed.customerId])).get(listed.customerId) ?? [];
    const ground = {
      hasMethod: methods.some((m) => m.current && m.confirmedAt !== null),
      isEnrolled: await this.enrolment.isEnrolled(listed),
    };
    let s = listed;
    let decided = decideMove(s, row, this.now(ground));
    if (decided.do === 'go') {
      s = await this.fresh(listed);
      decided = decideMove(s, row, this.now(ground));
    }
    const about = { subscriptionId: s.subscriptionId, customerId: s.customerId, renewsAt: s.renewsAt };
    if (decided.do === 'done' && row?.status === 'moved') return { ...about, result: 'known', fact: null };
    if (options.dryRun) return { ...about, ...dry(decided) };
    if (decided.do === 'leave') {
      await this.steps.leave(s, row, decided.fact, options.by);
      return { ...about, result: 'skipped', fact: decided.fact };
    }
    const moved =
      decided.do === 'done' ? await this.steps.confirm(row, s, options.by) : await this.steps.move(s, row, options);
    return { ...about, ...resultOf(moved, 'moved') };
  }

  private async back(options: MoveOptions, tell: (done: MoveDone) => void): Promise<void> {
    for (let seq: string | undefined = '0'; seq !== undefined;) {
      const rows = await this.moves.toReturn(options.customerIds, seq, ROWS_AT_ONCE);
      for (const row of rows) tell(await this.oneBack(row, options));
      seq = rows.at(-1)?.seq;
    }
  }

  private async oneBack(row: MoveEntity, options: MoveOptions): Promise<MoveDone> {
    if (options.signal.aborted) throw interrupted();
    const read = known(await this.billing.read(row.subscriptionId), options.signal);
    const s = read === null ? null : await this.withOpenInvoice(read);
    const rule = ruleOf({ settings: this.settings });
    const isEnrolled = s !== null && (carries(s.metadata, rule) || carries(s.customerMetadata, rule));
    const decided = decideBack(s, row, this.now({ hasMethod: true, isEnrolled }));
    const { subscriptionId, customerId } = row;
    const about = { subscriptionId, customerId, renewsAt: s?.renewsAt ?? row.renewsAt };
    if (options.dryRun) return { ...about, ...dry(decided) };
    if (decided.do === 'leave') {
      await this.steps.note(row, decided.fact, options.by);
      return { ...about, result: 'skipped', fact: decided.fact };
    }
    const returned =
      decided.do === 'done' ? await this.steps.confirmBack(row, options.by) : await this.steps.back(row, options);
    return { ...about, ...resultOf(returned, 'returned') };
  }

  private async fresh({ subscriptionId }: MovableSubscription): Promise<MovableSubscription> {
    const read = known(await this.billing.read(subscriptionId));
    if (read === null)
      throw new MoveStopped('stripe_unavailable', `Stripe listed ${subscriptionId}, but no longer has it: run again.`);
    return this.withOpenInvoice(read);
  }

  private async withOpenInvoice(subscription: MovableSubscription): Promise<MovableSubscription> {
    return subscription.unpaid === null
      ? { ...subscription, unpaid: known(await this.billing.readOpenInvoice(subscription.subscriptionId)) }
      : subscription;
  }

  private now(ground: Omit<Ground, 'now'>): Ground {
    return { ...ground, now: this.clock.now() };
  }
}

function dry(decided: Decided): Pick<MoveDone, 'result' | 'fact'> {
  return decided.do === 'leave' ? { result: 'skipped', fact: decided.fact } : { result: 'would', fact: null };
}

function resultOf(row: MoveEntity, wanted: 'moved' | 'returned'): Pick<MoveDone, 'result' | 'fact'> {
  return row.status === wanted ? { result: 'done', fact: null } : { result: 'failed', fact: row.fact };
}

const interrupted = (): MoveStopped =>
  new MoveStopped('interrupted', 'Interrupted. Run the same command again: it goes on from here.');

function known<T>(outcome: CallOutcome<T>, signal?: AbortSignal): T {
  if (signal?.aborted === true) throw interrupted();
  if (outcome.ok) return outcome.value;
  throw MoveStopped.of(outcome);
}
