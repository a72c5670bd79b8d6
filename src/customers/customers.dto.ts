// What callers say of a customer's link.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CustomerFilter, Since, Until } from '../api/http/filters.js';
import { PageQuery } from '../api/http/page.js';
import { Filter, IsIdText, MayBeAbsent } from '../api/http/rules.js';

export class LinkCustomerDto {
  @ApiProperty({ type: String, maxLength: 255, description: "Stripe's `cus_…`.", example: 'cus_123' })
  @IsIdText()
  customer_id!: string;

  @ApiProperty({ type: String, maxLength: 255, description: "The MoR's customer.", example: 'mcus_123' })
  @IsIdText()
  mor_customer_id!: string;

  @ApiPropertyOptional({ type: String, maxLength: 255, description: 'Your own word for it; the newest one is kept.' })
  @MayBeAbsent()
  @IsIdText()
  reference?: string;
}

export class CustomersQuery extends PageQuery {
  @CustomerFilter() customer?: string;
  @Filter('The same as `customer`.') customer_id?: string;
  @Filter("Only the links to this customer of the MoR's.") mor_customer_id?: string;
  @Since('when they were linked') since?: string;
  @Until() until?: string;
}
