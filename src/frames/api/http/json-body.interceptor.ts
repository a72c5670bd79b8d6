// Reads and parses a body only after Crossbill knows the caller. So an unknown sender takes no memory and learns
// nothing from our replies.
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Request } from 'express';
import { type Observable } from 'rxjs';
import { ReadingRoom } from '../../intake/read-body.js';
import { type AccessRule, RULE } from '../access/access.js';
import { bodyOf } from './body.js';
import { parseJsonBody } from './json-body.js';
import { Problem } from './problem.js';

const NO_BODY = new Set(['GET', 'HEAD', 'DELETE']);

@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly room: ReadingRoom,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const handlers = [context.getHandler(), context.getClass()];
    // A route open to everybody takes no body, and the console reads its forms itself.
    if (this.reflector.getAllAndOverride<AccessRule | undefined>(RULE, handlers)?.open !== false) return next.handle();
    const req = context.switchToHttp().getRequest<Request>();
    if (NO_BODY.has(req.method)) return next.handle();
    const bytes = await bodyOf(req, this.room, 'caller');
    // Accepts only JSON: another website can make a person's browser send us a form or plain text, but not JSON.
    if (bytes.length > 0 && !/^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? '')) {
      throw new Problem(415, 'unsupported_media_type', 'The body must be sent as application/json.', [
        { field: 'Content-Type', message: 'must be application/json' },
      ]);
    }
    const parsed = parseJsonBody(bytes);
    if (!parsed.ok) {
      throw new Problem(400, 'invalid_request', `body: ${parsed.reason}`, [{ field: 'body', message: parsed.reason }]);
    }
    req.body = parsed.value;
    return next.handle();
  }
}
