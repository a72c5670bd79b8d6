// The body of a request to link a customer, and the filters of the list of links.
import { Example, Text } from '../../frames/api/http/docs.js';
import { CustomerFilter, Since, Until } from '../../frames/api/http/filters.js';
import { PageQuery } from '../../frames/api/http/page.js';
import { Filter, IsIdText, MayBeAbsent } from '../../frames/api/http/rules.js';

export class LinkCustomerDto {
  @Example('cus_123') @Text("Stripe's `cus_…`.") @IsIdText() customer_id!: string;
  @Example('mc_123') @Text("The MoR's customer.") @IsIdText() mor_customer_id!: string;

  @Example('moved in November')
  @Text('Your reference for the link; Crossbill keeps the newest.')
  @MayBeAbsent()
  @IsIdText()
  reference?: string;
}

export class CustomersQuery extends PageQuery {
  @CustomerFilter() customer?: string;
  @Filter('The same as `customer`.') customer_id?: string;
  @Filter('Only the links to this customer at the MoR.') mor_customer_id?: string;
  @Since('when they were linked') since?: string;
  @Until() until?: string;
}
