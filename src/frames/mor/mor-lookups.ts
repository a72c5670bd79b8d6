// Asks the MoR about its own charges and refunds (Document 2, "Invoices").
import { Invoices } from '@crossbill/mor';
import { Injectable } from '@nestjs/common';
import { type CallFailure, type CallOutcome } from '../../shared/domain/ports/call.js';

@Injectable()
export class MorLookups {
  constructor(private readonly invoices: Invoices) {}

  /** True if the MoR has a charge with this reference of the processor. */
  async hasCharged(pspReference: string): Promise<CallOutcome<boolean>> {
    const found = await this.invoices.lookUpCharge(pspReference);
    return found.ok ? { ...found, value: found.value === 'charged' } : unlessRefused(found);
  }

  /**
   * True: the MoR has the finished document of the refund, so the refund exists. False: no document so far, or no such
   * refund.
   */
  async hasRefundDocument({
    morRefundId,
    processorRefundId,
  }: {
    readonly morRefundId: string | null;
    readonly processorRefundId: string | null;
  }): Promise<CallOutcome<boolean>> {
    const found =
      processorRefundId !== null
        ? await this.invoices.ofRefundByReference(processorRefundId)
        : await this.invoices.ofRefund(morRefundId ?? '');
    return found.ok ? { ...found, value: found.value.state === 'ready' } : unlessRefused(found);
  }
}

/**
 * Treats a 404, or a refusal of the id, as "not found". Crossbill may know only the wrong kind of id. Document 2 wants
 * the uuid of a refund, but Document 3 gives `rfnd_…`. Document 2 wants a charge, but Crossbill may know only the
 * payment intent. A wrong id must not end a run of many requests.
 */
function unlessRefused(failed: CallFailure): CallOutcome<boolean> {
  const { status, requestId } = failed;
  return status === 404 || status === 400 ? { ok: true, value: false, status, requestId } : failed;
}
