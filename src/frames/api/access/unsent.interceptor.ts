// In shadow mode the API refuses every change at Stripe or the MoR. The audit log has the refusal like any result.
import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Observable } from 'rxjs';
import { CONFIG, type Config } from '../../../shared/config/index.js';
import { refuseUnsent } from '../../../engine/commanded.js';
import { refusalProblem } from '../http/problem.js';
import { type AccessRule, RULE } from './access.js';

@Injectable()
export class UnsentInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    @Inject(CONFIG) private readonly config: Pick<Config, 'sendsNothing'>,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rule = this.reflector.get<AccessRule | undefined>(RULE, context.getHandler());
    if (this.config.sendsNothing && rule?.open === false && rule.outside) throw refusalProblem(refuseUnsent());
    return next.handle();
  }
}
