// The port of the card payments, joined to the MoR's client.
import { Inject, Injectable } from '@nestjs/common';
import { decimalFromMinor } from '../domain/money.js';
import { type CallOutcome, type WireRequest } from '../domain/ports/call.js';
import {
  type ChargeState,
  type CustomerDetails,
  type IntentAnswer,
  type MorCall,
  PaymentGateway,
  type RefundAnswer,
} from '../domain/ports/payment-gateway.js';
import { CardIntents, decodeDetails, encodeIntent, type IntentOptions } from './card-intents.js';
import { Invoices } from './invoices.js';
import { MOR_OPTIONS } from './options.js';
import { encodePaymentLink } from './payment-links.js';
import { encodeRefund, Refunds } from './refunds.js';

@Injectable()
export class MorPaymentGateway extends PaymentGateway {
  constructor(
    @Inject(MOR_OPTIONS) private readonly options: IntentOptions,
    private readonly intents: CardIntents,
    private readonly refunds: Refunds,
    private readonly invoices: Invoices,
  ) {
    super();
  }

  encode(call: MorCall): WireRequest {
    switch (call.kind) {
      case 'create_refund':
        return encodeRefund(call);
      case 'create_setup_intent':
      case 'create_payment_intent':
        return encodeIntent(this.options, call);
      case 'create_payment_link': {
        const { jurisdiction, returnUrl, key: idempotencyKey, expiresSec: expiresIn } = call;
        const { minor, currency } = call.amount;
        const amount = { amount: decimalFromMinor(minor, currency), currency };
        return encodePaymentLink({ jurisdiction, amount, returnUrl, idempotencyKey, expiresIn });
      }
    }
  }

  detailsIn(body: string): CustomerDetails {
    return decodeDetails(body);
  }

  createIntent(wire: WireRequest, key: string): Promise<CallOutcome<IntentAnswer>> {
    return this.intents.send(wire, key);
  }

  createRefund(wire: WireRequest, key: string): Promise<CallOutcome<RefundAnswer>> {
    return this.refunds.send(wire, key);
  }

  lookUpCharge(processorChargeId: string): Promise<CallOutcome<ChargeState>> {
    return this.invoices.lookUpCharge(processorChargeId);
  }
}
