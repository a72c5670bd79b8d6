// Pages that list, search and add up: they may be read on the standby, and again on the primary where it fails.
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { type Response } from 'express';
import { defer, lastValueFrom, type Observable } from 'rxjs';
import { ReadSide } from '../domain/ports/read-side.js';

@Injectable()
class StandbyReads implements NestInterceptor {
  constructor(private readonly side: ReadSide) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const res = context.switchToHttp().getResponse<Response>();
    const page = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    // A file that is half sent cannot begin again.
    return defer(() => this.side.read(page, () => !res.headersSent));
  }
}

/** For a page that changes nothing. What its session did a moment ago is on it: see `ReadSide`. */
export const FromStandby = (): MethodDecorator => UseInterceptors(StandbyReads);
