// Turns the bytes of a body into JSON after the caller is known: a stranger learns nothing of what we would have said to it.
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { type Request } from 'express';
import { type Observable } from 'rxjs';
import { parseJsonBody } from './json-body.js';
import { Problem } from './problem.js';

const NO_BODY = new Set(['GET', 'HEAD', 'DELETE']);

@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const req = context.switchToHttp().getRequest<Request>();
    if (NO_BODY.has(req.method)) return next.handle();
    const raw: unknown = req.body;
    const bytes = Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
    // A form or plain text may be sent across sites without being asked; JSON may not.
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
