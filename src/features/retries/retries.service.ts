// Retries a refused renewal on request. Crossbill first reads the invoice from Stripe, then decides.
import { Injectable } from '@nestjs/common';
import { BillingPlatform } from '../../shared/domain/ports/billing-platform.js';
import { type CallFailure } from '../../shared/domain/ports/call.js';
import { LaneRepository } from '../../engine/lane.repository.js';
import { type NamedRequest } from '../../shared/domain/request-name.js';
import { refuse, type Result } from '../../engine/commanded.js';
import { LaneChanges } from '../../engine/lane-changes.js';
import { findRetry, type MadeRetry, requestRetry } from './rules/retry.js';

/** The result of a requested retry. `silent`: Stripe did not show the invoice, so Crossbill decided nothing. */
export type Retried = Result<MadeRetry> | { readonly ok: false; readonly silent: CallFailure };

@Injectable()
export class RetriesService {
  constructor(
    private readonly repository: LaneRepository,
    private readonly lanes: LaneChanges,
    private readonly platform: BillingPlatform,
  ) {}

  /**
   * Makes a retry. Refuses with 404, or with 409 `invoice_not_retryable` and the reason. A repeated request (`name`)
   * returns its earlier retry.
   */
  async retry(invoiceId: string, by: string, name: NamedRequest | null): Promise<Retried> {
    const askedAt = await this.repository.time();
    const read = await this.platform.readToRetry(invoiceId);
    if (!read.ok) return { ok: false, silent: read };
    const shown = read.value;
    if (shown === null) return refuse(404, 'not_found', 'There is no such invoice.');
    const named = name === null ? null : { name, find: findRetry };
    return this.lanes.change(invoiceId, (lane) => requestRetry(lane, { shown, askedAt, by }), named);
  }
}
