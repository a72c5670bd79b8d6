// The parts in front of every route: access, audit log, input checks, error replies. The module of each noun, such as
// refunds/, has its own routes.
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { IntakeModule } from '../intake/intake.module.js';
import { AccessGuard } from './access/access.guard.js';
import { AuditInterceptor } from './access/audit.interceptor.js';
import { Denials } from './access/denials.js';
import { KeyRing } from './access/key-ring.js';
import { UnsentInterceptor } from './access/unsent.interceptor.js';
import { InputPipe } from './http/input.pipe.js';
import { JsonBodyInterceptor } from './http/json-body.interceptor.js';
import { ProblemFilter } from './http/problem.filter.js';

/** Applies these parts to every route. A route without a declared role is closed to everybody. */
@Module({
  imports: [IntakeModule],
  providers: [
    KeyRing,
    Denials,
    { provide: APP_FILTER, useClass: ProblemFilter },
    { provide: APP_GUARD, useClass: AccessGuard },
    // The order matters: the audit log comes first, so a request with a refused body gets its row too.
    { provide: APP_INTERCEPTOR, useClass: AuditInterceptor },
    { provide: APP_INTERCEPTOR, useClass: UnsentInterceptor },
    { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
    { provide: APP_PIPE, useClass: InputPipe },
  ],
  exports: [KeyRing, Denials, IntakeModule],
})
export class ApiModule {}
