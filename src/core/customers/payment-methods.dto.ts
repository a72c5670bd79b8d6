// The bodies of requests about a payment method.
import { Example, Text } from '../../frames/api/http/docs.js';
import { PaymentMethodTypes } from '../../frames/api/http/payment-method-types.js';
import { IsIdText, MayBeAbsent } from '../../frames/api/http/rules.js';

export class CreatePaymentMethodDto {
  @PaymentMethodTypes('Default: card.')
  payment_method_types?: string[];

  @Text('Binds a tax calculation of the MoR to the setup intent.')
  @MayBeAbsent()
  @IsIdText()
  tax_calculation_id?: string;
}

export class ConfirmPaymentMethodDto {
  @Example('seti_123')
  @Text('The confirmed setup intent. Default: the newest of the customer.')
  @MayBeAbsent()
  @IsIdText()
  setup_intent_id?: string;
}
