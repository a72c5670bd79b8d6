// Changes one lane for a person or the merchant's backend. The change is one transaction. A repeated request, with the
// same Idempotency-Key, changes nothing. After the change the workers wake.
import { Injectable } from '@nestjs/common';
import { carryOut, refuse, type Result } from './commanded.js';
import { Lane } from './lane.js';
import { settle } from './settle.js';
import { type LaneState } from '../shared/domain/model.js';
import { LaneRepository } from './lane.repository.js';
import { type NamedRequest } from '../shared/domain/request-name.js';
import { DecisionContext } from './decision-context.js';
import { LaneSignal } from './lane-signal.js';

/** A request with its Idempotency-Key. A repeat changes nothing and returns the object from `find`. */
type Named<T> = { readonly name: NamedRequest; readonly find: (state: LaneState, id: string) => T | undefined };

@Injectable()
export class LaneChanges {
  constructor(
    private readonly repository: LaneRepository,
    private readonly context: DecisionContext,
    private readonly signal: LaneSignal,
  ) {}

  /**
   * Runs `act` on the stored lane. Refuses the Idempotency-Key of another request (409). If another request changes the
   * lane meanwhile, `act` runs again on the changed lane. Throws the errors of `LaneRepository.transact`.
   */
  async change<T extends { readonly id: string }>(
    lane: string,
    act: (lane: Lane) => Result<T>,
    named: Named<T> | null = null,
  ): Promise<Result<T>> {
    const done = await this.repository.transact<Result<T>>({
      lane,
      fence: null,
      request: named?.name ?? null,
      awaited: true,
      decide: ({ state, remembered, now }) => {
        const ctx = this.context.beside(now);
        const unchanged = (value: Result<T>) => ({
          state,
          outcomes: [],
          dueAt: settle(this.context.decider.subjects, new Lane(state, ctx)).dueAt,
          value,
        });
        if (named !== null && remembered.known) {
          const made = remembered.sameBody ? named.find(state, remembered.objectId) : undefined;
          if (made !== undefined) return unchanged({ ok: true, value: made });
          return unchanged(refuse(409, 'idempotency_conflict', 'This Idempotency-Key was used for another request.'));
        }
        const lane = new Lane(state, ctx);
        const acted = carryOut(lane, act);
        if (!acted.ok) return unchanged(acted);
        const { state: settled, dueAt } = settle(this.context.decider.subjects, lane);
        const { value } = acted;
        const made = named === null ? null : value.id;
        return { state: settled, outcomes: [], dueAt, value: { ok: true, value }, made };
      },
    });
    this.signal.lanes();
    return done;
  }
}
