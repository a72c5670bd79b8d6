// Turns calls to Stripe and to the MoR into metrics and log lines.
import { type FailureKind } from '../domain/ports/call.js';
import { type Logger } from './logger.js';
import { type Metrics } from './metrics.js';

/** One finished call, without body and secret. */
export type CallReport = {
  readonly peer: 'stripe' | 'mor';
  readonly name: string;
  readonly status: number | null;
  readonly elapsedMs: number;
  readonly requestId: string | null;
  /** The MoR's error code, if the MoR's documents list it. Absent or null: no such code. */
  readonly code?: string | null;
} & ({ readonly outcome: 'ok' | FailureKind } | { readonly kind: 'ok' | FailureKind });

export type OnCall = (report: CallReport) => void;

/**
 * Counts each call. Logs an error if only a person can mend the cause of the failure. `watchSteps` logs the calls of a
 * lane. For a call outside a lane, the calling code reports the result.
 */
export function watchCalls(metrics: Metrics, log: Logger): OnCall {
  return (r) => {
    const ended = 'outcome' in r ? r.outcome : r.kind;
    metrics.call(r.peer, r.name, ended === 'ok' ? 'answered' : ended, r.elapsedMs / 1000);
    const integration = ended === 'refused' && (r.code?.startsWith('integration_') ?? false);
    if (r.peer === 'mor' && ended === 'refused') metrics.refusal(r.name, r.code ?? 'none');
    const { peer, name: call, status, requestId } = r;
    const line = { peer, call, status, ms: Math.round(r.elapsedMs), requestId, ended };
    if (ended === 'stopped')
      log.error({ event: 'calls.not_accepted', ...line }, 'Stripe or the MoR refuses: check keys, account, address');
    else if (integration)
      log.error(
        { event: 'calls.tax_broken', ...line, code: r.code },
        "the MoR's tax integration does not work, so the MoR calculates no tax: ask the MoR",
      );
    else log.debug(line, 'request');
  };
}
