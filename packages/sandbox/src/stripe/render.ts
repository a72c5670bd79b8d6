// Parts that several objects of the Stripe side share in the API's format.
import { type JsonObject } from '../kernel/json.js';

export const API_VERSION = '2026-10-28.endive';

export function list(data: JsonObject[], url: string, hasMore = false): JsonObject {
  return { object: 'list', data, has_more: hasMore, url };
}
