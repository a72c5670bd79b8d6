// Checks ids in paths: an impossible id gives a 404 without a query to the database.
import { Injectable, type PipeTransform } from '@nestjs/common';
import { isInnerLane } from '../../../shared/domain/events/channel-lane.js';
import { notFound } from './problem.js';
import { isPlainText } from './rules.js';

@Injectable()
export class IdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown): string {
    if (!isPlainText(value)) throw notFound('object');
    return value;
  }
}

/**
 * Checks the id of an invoice, like `IdPipe`. It also refuses an id reserved for Crossbill's internal work: such an id
 * names no Stripe invoice.
 */
@Injectable()
export class InvoiceIdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown): string {
    if (!isPlainText(value) || isInnerLane(value)) throw notFound('invoice');
    return value;
  }
}
