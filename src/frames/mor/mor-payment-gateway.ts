// Connects the port of card payments to the MoR's client.
import {
  CardIntents,
  decodeDetails,
  encodePaymentIntent,
  encodePaymentLink,
  encodeRefund,
  encodeSetupIntent,
  type IntentOptions,
  Invoices,
  Refunds,
} from '@crossbill/mor';
import { Inject, Injectable } from '@nestjs/common';
import { type CallOutcome, type WireRequest } from '../../shared/domain/ports/call.js';
import {
  type ChargeState,
  type CustomerDetails,
  type IntentReply,
  type MorCall,
  PaymentGateway,
  type RefundReply,
} from '../../shared/domain/ports/payment-gateway.js';
import { MOR_OPTIONS } from './options.js';

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
        return encodeSetupIntent(call, this.options);
      case 'create_payment_intent':
        return encodePaymentIntent(call, this.options);
      case 'create_payment_link': {
        const { jurisdiction, amount, returnUrl, key: idempotencyKey, expiresSec: expiresIn } = call;
        return encodePaymentLink({ jurisdiction, amount, returnUrl, idempotencyKey, expiresIn });
      }
    }
  }

  detailsIn(body: string): CustomerDetails {
    return decodeDetails(body);
  }

  createIntent(wire: WireRequest, key: string): Promise<CallOutcome<IntentReply>> {
    return this.intents.send(wire, key);
  }

  createRefund(wire: WireRequest, key: string): Promise<CallOutcome<RefundReply>> {
    return this.refunds.send(wire, key);
  }

  lookUpCharge(processorChargeId: string): Promise<CallOutcome<ChargeState>> {
    return this.invoices.lookUpCharge(processorChargeId);
  }
}
