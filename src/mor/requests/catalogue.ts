// The request to import one product variant (Document 2, POST /api/catalogue/products).
import { type Checked, checkRequest } from './check.js';
import { About, Country, Currency, Filled, Flag, Optional, Text } from './rules.js';
import { IsNumber, Min } from 'class-validator';

export class CatalogueProductRequest {
  @About('The key of the variant.')
  @Filled(255)
  productId!: string;
  @Optional() @Filled(255) productGroupId?: string;
  @Filled() title!: string;
  @Flag() requiresShipping!: boolean;
  @Optional() @Flag() taxable?: boolean;
  @Optional() @Text() description?: string;
  // The document names the fields below without their constraints: only their evident type is checked.
  @Optional() @Text() category?: string;
  @Optional() @Text() imageUrl?: string;
  @Optional() @Text() sku?: string;
  @Optional() @Text(32) hsCode?: string;
  @Optional() @Country() countryOfOrigin?: string;
  @Optional()
  @IsNumber({ allowNaN: false, allowInfinity: false }, { message: 'must be a number of 0 or more' })
  @Min(0, { message: 'must be a number of 0 or more' })
  priceAmount?: number;
  @Optional() @Currency() priceCurrency?: string;
}

export function checkCatalogueProduct(body: unknown): Checked<CatalogueProductRequest> {
  return checkRequest(CatalogueProductRequest, body, 'invalid_argument');
}
