// The words of the error guide: what a row says.
import { type ErrorCode, type MorCallName } from '@crossbill/mor';

export { type MorCallName } from '@crossbill/mor';

export type ErrorRow = {
  readonly calls: readonly MorCallName[] | 'all';
  readonly status: number;
  /** Null: the document gives no code. */
  readonly code: ErrorCode | null;
  /** Set where one code has several reasons and the field, or one within it, tells them apart. */
  readonly field?: string;
  /** One sentence for the operator. */
  readonly advice: string;
};
