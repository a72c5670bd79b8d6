// Connects the port of tax to the MoR's client.
import { TaxCalculations } from '@crossbill/mor';
import { Injectable } from '@nestjs/common';
import { minorFromDecimal } from '../../shared/domain/money.js';
import { type CallOutcome, type WireRequest } from '../../shared/domain/ports/call.js';
import { type TaxCalculationFacts, TaxClient } from '../../shared/domain/ports/tax.js';

@Injectable()
export class MorTaxClient extends TaxClient {
  constructor(private readonly calculations: TaxCalculations) {
    super();
  }

  async calculate(wire: WireRequest): Promise<CallOutcome<TaxCalculationFacts>> {
    const made = await this.calculations.send(wire);
    if (!made.ok) return made;
    const { taxCalculationId, currency, totalAmount } = made.value;
    return { ...made, value: { taxCalculationId, currency, total: minorFromDecimal(totalAmount, currency) } };
  }
}
