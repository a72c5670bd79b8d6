// Shadow mode in the API: refuses every change at Stripe or the MoR, and records the refusal in the audit log like any
// result.
import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Observable } from 'rxjs';
import { CONFIG, type Config } from '../../../shared/config/index.js';
import { SHADOW_MESSAGE, SHADOW_MODE } from '../../../shared/domain/ports/call.js';
import { Problem } from '../http/problem.js';
import { type AccessRule, RULE } from './access.js';

@Injectable()
export class ShadowInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    @Inject(CONFIG) private readonly config: Pick<Config, 'shadow'>,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rule = this.reflector.get<AccessRule | undefined>(RULE, context.getHandler());
    if (this.config.shadow && rule?.open === false && rule.outside) throw new Problem(409, SHADOW_MODE, SHADOW_MESSAGE);
    return next.handle();
  }
}
