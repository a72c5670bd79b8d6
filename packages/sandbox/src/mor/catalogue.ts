// POST /api/catalogue/products (Document 2): one variant per call. The document shows no reply, so the shape is the
// sandbox's choice.
import { type Kernel } from '../kernel/kernel.js';
import { Fields, compact } from './fields.js';
import { merchantRoutes } from './merchant-routes.js';
import { type Account, type MorState } from './state.js';

/**
 * Adds the route. It replies 201 to a new `productId` and 200 to a known one. The body is the product, with the
 * default values.
 */
export function addCatalogue(kernel: Kernel, mor: MorState): void {
  const products = new Map<string, unknown>();
  const keyOf = (account: Account, productId: string): string => `${account}:${productId}`;
  merchantRoutes(kernel, mor)('POST', '/api/catalogue/products', ({ account, body }) => {
    const fields = Fields.of(body);
    const productId = fields.text('productId');
    const requiresShipping = fields.optionalFlag('requiresShipping');
    if (!fields.has('requiresShipping')) fields.problem('requiresShipping', 'is required');
    const product = compact({
      productId,
      productGroupId: fields.optionalText('productGroupId') ?? productId,
      title: fields.text('title'),
      description: fields.optionalText('description'),
      requiresShipping,
      taxable: fields.optionalFlag('taxable') ?? true,
      category: fields.optionalText('category'),
      imageUrl: fields.optionalText('imageUrl'),
      sku: fields.optionalText('sku'),
      hsCode: fields.optionalText('hsCode'),
      countryOfOrigin: fields.optionalText('countryOfOrigin'),
      priceAmount: fields.optionalNumber('priceAmount'),
      priceCurrency: fields.optionalText('priceCurrency'),
    });
    fields.problems.throwAs('invalid_argument');
    const known = products.has(keyOf(account, productId));
    products.set(keyOf(account, productId), product);
    return { status: known ? 200 : 201, body: product };
  });
}
