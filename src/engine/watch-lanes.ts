// What the work on lanes reports about itself, as metrics and log lines.
import { type Claim } from './lane-store.js';
import { eventName, type Logger, type Metrics } from '../observe/index.js';
import { type LaneWatch } from './lane-trail.js';
import { type LaneDone } from './work-lane.flow.js';

/** Logs each step of the work on a lane: which events were decided, which calls they led to. */
export function watchSteps(log: Logger): LaneWatch {
  return {
    onDecided: (work, decided) => {
      for (const e of decided) {
        const line = { event: eventName(e), id: `ie_${e.id}`, lane: work.lane, type: e.type, status: e.status };
        log.debug({ ...line, reason: e.reason }, 'event decided');
      }
    },
    onCalled: (work, { name, messageId, status, requestId, failure, ms }) => {
      const line = {
        // A retry decides no event: it is named by those that its lane had before.
        events: (work.events.length > 0 ? work.events : work.named).map(eventName),
        lane: work.lane,
        call: name,
        message: messageId,
        status,
        ms,
        requestId,
      };
      if (failure === null) log.debug(line, 'call');
      else log.warn({ ...line, ended: failure.kind, code: failure.code, why: failure.message }, 'call failed');
    },
  };
}

/** Counts each decision (`watchSteps` logs it); failures are logged with their lane. */
export function watchLanes(
  metrics: Metrics,
  log: Logger,
): {
  onDone: (done: LaneDone) => void;
  onError: (what: string, error: unknown, lane: string | null, events?: Claim['events']) => void;
} {
  return {
    onDone: (done) => {
      for (const v of done.decided) {
        metrics.event(v.source, v.type, v.status);
        metrics.decision(v.type, v.status);
      }
    },
    onError: (what, error, lane, events) => log.error({ err: error, lane, events: events?.map(eventName) }, what),
  };
}
