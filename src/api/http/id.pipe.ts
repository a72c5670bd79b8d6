// Ids in paths: an impossible id is a 404, without asking a database.
import { Injectable, type PipeTransform } from '@nestjs/common';
import { isInnerLane } from '../../domain/events/channel-lane.js';
import { notFound } from './problem.js';
import { isPlainText } from './rules.js';

@Injectable()
export class IdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown): string {
    if (!isPlainText(value)) throw notFound('object');
    return value;
  }
}

/** Like `IdPipe`, for an invoice: a name of our own lanes is no invoice's. */
@Injectable()
export class InvoiceIdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown): string {
    if (!isPlainText(value) || isInnerLane(value)) throw notFound('invoice');
    return value;
  }
}
