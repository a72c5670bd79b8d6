// The parts that features add to a customer's page, such as the disputes.
import { Injectable } from '@nestjs/common';
import { type Html } from '../../frames/console/html.js';

/** Makes the part of the page about this customer. Null: there is nothing to show. */
export type CustomerPart = (customerId: string) => Promise<Html | null>;

@Injectable()
export class CustomerParts {
  readonly #parts: CustomerPart[] = [];

  add(part: CustomerPart): void {
    this.#parts.push(part);
  }

  of(customerId: string): Promise<readonly (Html | null)[]> {
    return Promise.all(this.#parts.map((part) => part(customerId)));
  }
}
