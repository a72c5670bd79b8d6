// The errands of tax outside of a lane's transaction: what a calculation needs is looked up, stored calls are sent.
import { Injectable } from '@nestjs/common';
import { applyTaxFound } from './rules/tax-answer.js';
import { type TaxAnswer } from '../domain/lane/answer.js';
import { type Ctx } from '../domain/lane/change.js';
import { type Errand } from '../domain/lane/errand.js';
import { type LaneState, type OutboxRow } from '../domain/model.js';
import { type CallOutcome } from '../domain/ports/call.js';
import { Signups } from '../domain/ports/signups.js';
import { TaxBasisReader, TaxDesk } from '../domain/ports/tax.js';

@Injectable()
export class TaxErrands {
  constructor(
    private readonly desk: TaxDesk,
    private readonly platform: TaxBasisReader,
    private readonly signups: Signups,
  ) {}

  /** The calculation that the signup was bound to, where there was one; else what Stripe knows of the invoice. */
  async gather(errand: Extract<Errand, { do: 'gather-tax' }>): Promise<(s: LaneState, ctx: Ctx) => LaneState> {
    const { taxId, invoiceId, signupId, intentId } = errand;
    const bound =
      signupId === null && intentId === null ? null : await this.signups.taxCalculationOf(signupId, intentId);
    if (bound !== null) {
      return (s, ctx) => applyTaxFound(s, taxId, { from: 'signup', taxCalculationId: bound }, ctx);
    }
    const outcome = await this.platform.readTaxBasis(invoiceId);
    return (s, ctx) => applyTaxFound(s, taxId, { from: 'platform', outcome }, ctx);
  }

  async send({ kind, wire }: OutboxRow): Promise<CallOutcome<TaxAnswer> | null> {
    switch (kind) {
      case 'calculate_tax': {
        const made = await this.desk.calculate(wire);
        return made.ok ? { ...made, value: { kind, calculation: made.value } } : made;
      }
      case 'commit_tax': {
        const made = await this.desk.commit(wire);
        return made.ok ? { ...made, value: { kind, transaction: made.value } } : made;
      }
      case 'refund_tax': {
        const made = await this.desk.refund(wire);
        return made.ok ? { ...made, value: { kind, taxRefundId: made.value.taxRefundId } } : made;
      }
      default:
        return null;
    }
  }
}
