// The query parameters of the tax routes, checked by Document 2's rules.
import { Filter } from '../../frames/api/http/rules.js';
import { Problem } from '../../frames/api/http/problem.js';

export class TaxTransactionsQuery {
  @Filter('1 to 100, default 20.') size?: string;
  @Filter('`nextCursor` of the page before; keep the other parameters the same.') cursor?: string;
  @Filter('Only the transaction with this reference.') merchantTransactionReference?: string;
}

/** Reads the query. Throws 400 `invalid_argument` for a size outside 1 to 100 (Document 2, Limits). */
export function taxPageOf(query: TaxTransactionsQuery): {
  merchantTransactionReference?: string;
  size?: number;
  cursor?: string;
} {
  const { size, cursor, merchantTransactionReference } = query;
  if (size !== undefined && !/^([1-9]\d?|100)$/.test(size)) {
    const message = 'must be a whole number from 1 to 100';
    throw new Problem(400, 'invalid_argument', `size: ${message}`, [{ field: 'size', message }]);
  }
  return {
    ...(merchantTransactionReference ? { merchantTransactionReference } : {}),
    ...(size === undefined ? {} : { size: Number(size) }),
    ...(cursor ? { cursor } : {}),
  };
}
