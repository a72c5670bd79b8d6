// Lists the audit trail.
import { Injectable } from '@nestjs/common';
import { type Page, type PageRequest, type Span } from '../../shared/domain/page.js';
import { Database } from '../../frames/store/database.js';
import { newestFirst } from '../../frames/store/newest-first.js';
import { numbersWithin } from '../../frames/store/number-at.js';
import { AuditEntity, type AuditRow } from './audit.entity.js';

export type AuditFilter = Span & { readonly actor?: string | undefined; readonly action?: string | undefined };

@Injectable()
export class AuditRepository {
  constructor(private readonly db: Database) {}

  /** Lists the newest rows first. Throws BadCursor for a malformed cursor. */
  async list({ actor, action, ...span }: AuditFilter, page: PageRequest): Promise<Page<AuditRow>> {
    const { orm } = this.db;
    const numbers = await numbersWithin(orm, 'audit', 'at', span);
    return newestFirst(
      orm.getRepository(AuditEntity),
      'id',
      { actor, action },
      {
        page,
        indexes: [['actor', 'action'], ['actor'], ['action']],
        numbered: { at: 'x.at', span, numbers },
      },
    );
  }
}
