// Ids in paths: what can be no id of anything is not found, before a database is asked.
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

/** As `IdPipe`, for an invoice: a name that only our own lanes have is no invoice's. */
@Injectable()
export class InvoiceIdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown): string {
    if (!isPlainText(value) || isInnerLane(value)) throw notFound('invoice');
    return value;
  }
}
