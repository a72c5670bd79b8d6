// The disputes on a customer's page.
import { Injectable } from '@nestjs/common';
import { CustomerParts } from '../../../core/customers/customer-parts.js';
import { columnsOf } from '../../../frames/console/fields.js';
import { type Html, html } from '../../../frames/console/html.js';
import { more, table } from '../../../frames/console/list.js';
import { section } from '../../../frames/console/show.js';
import { disputeFields, listedDispute } from './dispute.fields.js';
import { DisputesRepository } from './disputes.repository.js';

const ROWS = 25;
const COLUMNS = columnsOf(disputeFields, undefined, ['customer_id']);

@Injectable()
export class CustomerDisputes {
  constructor(
    private readonly disputes: DisputesRepository,
    parts: CustomerParts,
  ) {
    parts.add((customerId) => this.part(customerId));
  }

  private async part(customerId: string): Promise<Html | null> {
    const { data } = await this.disputes.list({ customerId }, { limit: ROWS, cursor: null });
    if (data.length === 0) return null;
    const all = `/console/disputes?customer_id=${encodeURIComponent(customerId)}`;
    const shown = table('Newest first', COLUMNS, data.map(listedDispute), '');
    return section('Disputes', html`${shown}${more(data, all, 'All disputes')}`);
  }
}
