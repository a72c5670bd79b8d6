// Ids in paths: what can be no id of anything is not found, before a database is asked.
import { Injectable, type PipeTransform } from '@nestjs/common';
import { notFound } from './problem.js';
import { isPlainText } from './rules.js';

@Injectable()
export class IdPipe implements PipeTransform<unknown, string> {
  transform(value: unknown): string {
    if (!isPlainText(value)) throw notFound('object');
    return value;
  }
}
