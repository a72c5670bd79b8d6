// A lane's log for tests: its content, and a step that no daemon decided.
import type pg from 'pg';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { ServerTime } from '../../../src/frames/store/database-time.js';
import { LaneWriter } from '../../../src/engine/lane-writer.js';
import { parsedEvents } from '../fakes/parsed-events.js';

/** Writes a step without any decision, and makes the lane due at once. */
export async function changeByHand(
  pool: pg.Pool,
  lane: string,
  change: (state: LaneState) => LaneState,
): Promise<void> {
  await new LaneWriter(pool, new ServerTime(), { parsed: parsedEvents() }).submit({
    lane,
    fence: null,
    decide: ({ state }) => ({ state: change(state), outcomes: [], dueAt: new Date(), value: null }),
  });
}
