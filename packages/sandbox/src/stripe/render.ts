// The common parts of the Stripe side's objects on the wire.
import { type JsonObject } from '../kernel/json.js';

export const API_VERSION = '2026-10-28.endive';

export function list(data: JsonObject[], url: string, hasMore = false): JsonObject {
  return { object: 'list', data, has_more: hasMore, url };
}
