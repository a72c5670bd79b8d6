// The steps of one subscription's move. Crossbill stores each request with key and bytes, sends it, searches for its
// effect after a lost reply, and stores the result.
import { Injectable } from '@nestjs/common';
import { BillingMoves, type MovableSubscription, type MoveCall } from '../../shared/domain/ports/billing-moves.js';
import { type CallFailure, mayPass, said } from '../../shared/domain/ports/call.js';
import { Clock, Ids } from '../../shared/domain/ports/clock.js';
import { MOVE_FIRST_PAUSE_MS, MOVE_LONGEST_PAUSE_MS, MOVE_TRIES } from './rules/limits.js';
import { type MoveEntity, type MoveRequest } from './move.entity.js';
import { backCall, firstCall, isBack, isMoved, mayCharge, type MoveFact, nextCall } from './move.rules.js';
import { MovesRepository } from './moves.repository.js';

/** The error if a run can't continue. Crossbill has stored the run's results, and the next run continues from there. */
export class MoveStopped extends Error {
  constructor(
    readonly code: 'interrupted' | 'stripe_unavailable' | 'stripe_refuses_us',
    message: string,
  ) {
    super(message);
  }

  static of(failure: CallFailure): MoveStopped {
    const again = 'Run the same command again: it goes on from here.';
    if (failure.kind === 'stopped')
      return new MoveStopped(
        'stripe_refuses_us',
        `${said(failure)}. STRIPE_API_KEY must read and write subscriptions and payment methods, and read customers and invoices. ${again}`,
      );
    return new MoveStopped('stripe_unavailable', `Stripe did not answer: ${said(failure)}. ${again}`);
  }
}

type Run = { readonly by: string; readonly signal: AbortSignal };

/** The result of a request: the row and the id of the object in the reply, or the reason for Stripe's refusal. */
type Sent =
  | { readonly row: MoveEntity; readonly refused: null; readonly id: string }
  | { readonly row: MoveEntity; readonly refused: MoveFact };

@Injectable()
export class MoveSteps {
  constructor(
    private readonly moves: MovesRepository,
    private readonly billing: BillingMoves,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Stops Stripe from charging a subscription. The row stores the old state on Stripe before the first request goes
   * out.
   */
  async move(subscription: MovableSubscription, row: MoveEntity | null, run: Run): Promise<MoveEntity> {
    const { subscriptionId, customerId, renewsAt } = subscription;
    // If an interrupted run has stored a request, send the same request again.
    const resumed = row?.status === 'moving' && row.request !== null ? row : null;
    const begun = await this.moves.write(
      {
        subscriptionId,
        customerId,
        status: 'moving',
        fact: null,
        way: resumed?.way ?? this.billing.way,
        before: { methodId: subscription.ownMethodId, collectionMethod: subscription.collectionMethod },
        methodId: resumed?.methodId ?? null,
        atStripe: true, // Stripe may charge the subscription until Stripe shows otherwise
        request: resumed?.request ?? this.stored(firstCall(subscription, this.billing.way)),
        renewsAt,
        movedAt: row?.movedAt ?? null,
        changedBy: run.by,
      },
      row,
    );
    return this.carryOut(begun, run, resumed !== null);
  }

  private async carryOut(row: MoveEntity, run: Run, resumed: boolean): Promise<MoveEntity> {
    let at = row;
    for (let mayBeDone = resumed; ; mayBeDone = false) {
      if (at.request === null) throw new Error(`move of ${at.subscriptionId} has no request`);
      const { asked } = at.request;
      const sent = await this.send(at, at.request, run, mayBeDone);
      if (sent.refused !== null)
        return this.change(sent.row, { status: 'failed', fact: sent.refused, request: null, changedBy: run.by });
      const next = nextCall(asked, sent.id, at);
      if (next === null) return this.finish(sent.row, run.by);
      const methodId = next.kind === 'attach_method' ? next.methodId : at.methodId;
      at = await this.change(sent.row, { methodId, request: this.stored(next) });
    }
  }

  /** Records a finished move. Stripe already shows the move, but an interrupted run could not record it. */
  confirm(row: MoveEntity | null, subscription: MovableSubscription, by: string): Promise<MoveEntity> {
    if (row === null) throw new Error(`no move of ${subscription.subscriptionId} is known`);
    return this.finish(row, by);
  }

  private finish(row: MoveEntity, by: string): Promise<MoveEntity> {
    const movedAt = this.clock.now();
    return this.change(row, { status: 'moved', fact: null, request: null, atStripe: false, movedAt, changedBy: by });
  }

  /**
   * Moves a subscription back to Stripe. First sets `atStripe`: from then on Crossbill asks Stripe for each invoice
   * whether Stripe charges it. Then makes Stripe charge the subscription again.
   */
  async back(row: MoveEntity, run: Run): Promise<MoveEntity> {
    const resumed = row.status === 'returning' ? row.request : null;
    const request = resumed ?? this.stored(backCall(row.subscriptionId, row));
    const begun = await this.change(row, {
      status: 'returning',
      fact: null,
      atStripe: true,
      request,
      changedBy: run.by,
    });
    const sent = await this.send(begun, request, run, false);
    if (sent.refused === null) return this.confirmBack(sent.row, run.by);
    return this.change(sent.row, { status: 'moved', fact: sent.refused, request: null });
  }

  confirmBack(row: MoveEntity, by: string): Promise<MoveEntity> {
    return this.change(row, { status: 'returned', fact: null, atStripe: true, request: null, changedBy: by });
  }

  /** Records why the subscription stays unchanged. The status becomes `skipped`, except after `--back`. */
  async leave(subscription: MovableSubscription, row: MoveEntity | null, fact: MoveFact, by: string): Promise<void> {
    if (row?.status === 'returned' || row?.status === 'returning') return this.note(row, fact, by);
    const { subscriptionId, customerId, renewsAt } = subscription;
    await this.moves.write(
      {
        subscriptionId,
        customerId,
        status: 'skipped',
        fact,
        way: row?.way ?? this.billing.way,
        before: row?.before ?? null, // keep the old value: a request without a reply may still take effect
        methodId: row?.methodId ?? null,
        atStripe: mayCharge(subscription),
        request: null,
        renewsAt,
        movedAt: row?.movedAt ?? null,
        changedBy: by,
      },
      row,
    );
  }

  /** Records why `--back` leaves this subscription as it is. Stripe may charge it, so `atStripe` is true. */
  async note(row: MoveEntity, fact: MoveFact, by: string): Promise<void> {
    await this.change(row, { fact, atStripe: true, changedBy: by });
  }

  /**
   * Sends one request of a move, and repeats it after a temporary failure.
   * @param mayBeDone true: an earlier process may have sent this request and died before the reply, so search for the
   * effect first
   */
  private async send(row: MoveEntity, first: MoveRequest, run: Run, mayBeDone: boolean): Promise<Sent> {
    let at = row;
    let request = first;
    const found = mayBeDone ? await this.readInvoices(row, request.asked) : null;
    if (found !== null) return { row, refused: null, id: found };
    for (let tries = 1; ; tries++) {
      const sent = await this.billing.send(request);
      if (sent.ok) return { row: at, refused: null, id: sent.value };
      const seen = await this.readInvoices(row, request.asked);
      if (seen !== null) return { row: at, refused: null, id: seen };
      if (sent.kind === 'refused') return { row: at, refused: refusal(sent) };
      if (!mayPass(sent) || tries >= MOVE_TRIES || run.signal.aborted) throw MoveStopped.of(sent);
      if (sent.replayed) {
        // Stripe repeats a stored 500 for a day. The search found no effect, so Crossbill sends again with a new key.
        request = { ...request, key: this.ids.next('move') };
        at = await this.change(at, { request });
      }
      const pause = sent.retryAfterMs ?? MOVE_FIRST_PAUSE_MS * 2 ** (tries - 1);
      await this.clock.sleep(Math.min(pause, MOVE_LONGEST_PAUSE_MS), run.signal);
    }
  }

  /**
   * Searches Stripe for the effect of a request. Returns the id of the changed object. Null: the effect is absent, or
   * Stripe did not reply.
   */
  private async readInvoices(row: MoveEntity, asked: MoveCall): Promise<string | null> {
    switch (asked.kind) {
      case 'make_method':
        return null; // no search: if the first try succeeded, its unused payment method does no harm
      case 'attach_method': {
        const owner = await this.billing.readMethodOwner(asked.methodId);
        return owner.ok && owner.value === asked.customerId ? asked.methodId : null;
      }
      case 'set_method':
      case 'set_collection': {
        const read = await this.billing.read(asked.subscriptionId);
        if (!read.ok || read.value === null) return null;
        const isThere = row.status === 'returning' ? isBack(read.value, row) : isMoved(read.value, row);
        return isThere ? asked.subscriptionId : null;
      }
    }
  }

  private stored(asked: MoveCall): MoveRequest {
    return { asked, key: this.ids.next('move'), wire: this.billing.encode(asked) };
  }

  private change(row: MoveEntity, over: Partial<MoveEntity>): Promise<MoveEntity> {
    const { seq: _seq, version: _version, createdAt: _createdAt, updatedAt: _updatedAt, ...rest } = { ...row, ...over };
    return this.moves.write(rest, row);
  }
}

function refusal({ status, code, message, requestId }: CallFailure): MoveFact {
  return { code: 'refused', status, error_code: code, message, request_id: requestId };
}
