// Provides the audit trail: its route, its console page and its queries.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { AuditController } from './audit.controller.js';
import { AuditPages } from './audit.pages.js';
import { AuditRepository } from './audit.repository.js';

@Module({
  imports: [ConsoleModule],
  controllers: [AuditController, AuditPages],
  providers: [AuditRepository],
})
export class AuditModule {}
