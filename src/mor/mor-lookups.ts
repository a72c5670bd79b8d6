// The MoR's few answers about its own acts (Document 2, "Invoices").
import { Invoices } from '@crossbill/mor';
import { Injectable } from '@nestjs/common';
import { type CallFailure, type CallOutcome } from '../domain/ports/call.js';

@Injectable()
export class MorLookups {
  constructor(private readonly invoices: Invoices) {}

  /** Whether the MoR took money under this reference of the processor. */
  async hasCharged(pspReference: string): Promise<CallOutcome<boolean>> {
    const found = await this.invoices.lookUpCharge(pspReference);
    return found.ok ? { ...found, value: found.value === 'charged' } : unlessRefused(found);
  }

  /** True: it has the finished document of a refund, so the refund exists. False: none so far, or no such refund. */
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
 * 404, or a name the MoR does not accept, finds nothing: Document 2 wants a uuid of a refund where Document 3 gives
 * `rfnd_…`, and a charge where we only know the payment intent. Such an answer says nothing about a run's other
 * questions.
 */
function unlessRefused(failed: CallFailure): CallOutcome<boolean> {
  const { status, requestId } = failed;
  return status === 404 || status === 400 ? { ok: true, value: false, status, requestId } : failed;
}
