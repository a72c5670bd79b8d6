// The pages and filters of Stripe's lists.
import { type SandboxRequest } from '../kernel/http.js';
import { parseForm } from '../kernel/form.js';
import { type JsonObject, isObject } from '../kernel/json.js';
import { Params, invalidParam, missing } from './errors.js';
import { list } from './render.js';

/** The query parameters, parsed like a body. */
export function queryOf(request: SandboxRequest): Params {
  return new Params(parseForm(request.query.toString()));
}

/** The names in `expand[]`, without the prefix `data.` of lists. */
export function expansions(params: Params): Set<string> {
  return new Set(params.texts('expand').map((name) => name.replace(/^data\./, '')));
}

type Listed = { readonly id: string; readonly created: number };

/** One page, newest first. `items` are oldest first. `limit` is 1 to 100, 10 if left out. */
export function page<T extends Listed>(
  items: readonly T[],
  params: Params,
  url: string,
  render: (item: T) => JsonObject,
): JsonObject {
  const limit = params.optionalInteger('limit') ?? 10;
  if (limit < 1 || limit > 100) invalidParam('limit', 'Limit must be between 1 and 100.');
  const newestFirst = [...items].reverse();
  const after = params.optionalText('starting_after');
  const before = params.optionalText('ending_before');
  let from = 0;
  let to = newestFirst.length;
  if (after !== null) {
    const i = newestFirst.findIndex((item) => item.id === after);
    if (i < 0) missing('object', after, 'starting_after');
    from = i + 1;
  }
  if (before !== null) {
    const i = newestFirst.findIndex((item) => item.id === before);
    if (i < 0) missing('object', before, 'ending_before');
    to = i;
    from = Math.max(from, to - limit);
  }
  const data = newestFirst.slice(from, Math.min(to, from + limit));
  const hasMore = before !== null ? from > 0 : from + limit < to;
  return list(data.map(render), url, hasMore);
}

/** The filter `created`: a time or `{gt,gte,lt,lte}`, Unix seconds. */
export function createdFilter(params: Params): (item: { readonly created: number }) => boolean {
  const given = params.value['created'];
  if (given === undefined) return () => true;
  if (!isObject(given)) {
    const at = params.integer('created');
    return (item) => item.created === at;
  }
  const range = params.within('created') ?? params;
  const gt = range.optionalInteger('gt') ?? Number.NEGATIVE_INFINITY;
  const gte = range.optionalInteger('gte') ?? Number.NEGATIVE_INFINITY;
  const lt = range.optionalInteger('lt') ?? Number.POSITIVE_INFINITY;
  const lte = range.optionalInteger('lte') ?? Number.POSITIVE_INFINITY;
  return ({ created }) => created > gt && created >= gte && created < lt && created <= lte;
}
