// The few questions that the MoR answers about what it did (Document 2, "Invoices").
import { Injectable } from '@nestjs/common';
import { type CallOutcome } from '../domain/ports/call.js';
import { MorLookups, type PendingRefund } from '../domain/ports/loss.js';
import { Invoices } from './invoices.js';

@Injectable()
export class HttpMorLookups extends MorLookups {
  constructor(private readonly invoices: Invoices) {
    super();
  }

  async hasCharged(pspReference: string): Promise<CallOutcome<boolean>> {
    const found = await this.invoices.lookUpCharge(pspReference);
    return found.ok ? { ...found, value: found.value === 'charged' } : found;
  }

  async hasRefundDocument({
    morRefundId,
    processorRefundId,
  }: Pick<PendingRefund, 'morRefundId' | 'processorRefundId'>): Promise<CallOutcome<boolean>> {
    const found =
      processorRefundId !== null
        ? await this.invoices.ofRefundByReference(processorRefundId)
        : await this.invoices.ofRefund(morRefundId ?? '');
    if (found.ok) return { ...found, value: found.value.state === 'ready' };
    return found.status === 404 ? { ...found, ok: true, value: false, status: 404 } : found;
  }
}
