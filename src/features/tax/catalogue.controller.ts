// The merchant's products at the MoR, one variant per call (Document 2).
import { Catalogue, catalogueProductRequest } from '@crossbill/mor';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { MayChange } from '../../frames/api/access/access.js';
import { MorBody, Problems, Repeatable } from '../../frames/api/http/docs.js';
import { answeredOrThrow, checkedRequest } from '../../frames/api/http/mor-reply.js';

@ApiTags('Tax')
@Controller('v1/catalogue')
export class CatalogueController {
  constructor(private readonly catalogue: Catalogue) {}

  @Repeatable()
  @Post('products')
  @HttpCode(201)
  @MayChange('signup', 'catalogue.import')
  @ApiOperation({
    operationId: 'importProduct',
    summary: 'Import one product variant (role: signup)',
    description: '`productId` is the key of the variant: a repeat replaces it. The answer is the MoR’s own.',
  })
  @MorBody(catalogueProductRequest)
  @ApiCreatedResponse({
    description: 'The MoR’s own answer, as it came.',
    schema: { type: 'object', additionalProperties: true },
  })
  @Problems({ 400: '`invalid_argument`', 502: '`mor_unavailable`' })
  async importProduct(@Body() body: unknown): Promise<unknown> {
    const request = checkedRequest(catalogueProductRequest.check(withPlainPrice(body)));
    return answeredOrThrow(await this.catalogue.import(request)) ?? {};
  }
}

/**
 * Turns the price into a JSON number, as Document 2 demands. Crossbill reads a number such as 9.90 from a body as text,
 * since its own amounts are integers.
 */
function withPlainPrice(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('priceAmount' in body)) return body;
  const { priceAmount } = body;
  const plain = typeof priceAmount === 'string' && /^\d{1,15}\.\d{1,12}$/.test(priceAmount);
  return plain ? { ...body, priceAmount: Number(priceAmount) } : body;
}
