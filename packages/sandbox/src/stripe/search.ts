// Stripe's search of customers (Stripe docs, "Search"): the clauses on e-mail and name, and no other query.
import { type JsonObject } from '../kernel/json.js';
import { type Params, invalidParam } from './errors.js';
import { type Customer } from './model.js';

const CLAUSE = /^(email|name)([:~])"((?:[^"\\]|\\.)*)"$/;
/** Stripe docs, "Search query language": a part of a text has at least three characters. */
const SHORTEST_PART = 3;

/** Finds customers: `:` compares the whole text, `~` finds a part of it. Both ignore the case of letters. */
export function searchCustomers(
  customers: Iterable<Customer>,
  params: Params,
  render: (customer: Customer) => JsonObject,
): JsonObject {
  const [, field, how, quoted = ''] =
    CLAUSE.exec(params.text('query')) ?? invalidParam('query', 'We were unable to parse your search query.');
  const sought = quoted.replace(/\\(.)/g, '$1').toLowerCase();
  if (how === '~' && sought.length < SHORTEST_PART) invalidParam('query', 'A substring match needs three characters.');
  const limit = params.optionalInteger('limit') ?? 10;
  if (limit < 1 || limit > 100) invalidParam('limit', 'Limit must be between 1 and 100.');
  const found = [...customers].filter((c) => {
    const text = (field === 'email' ? c.email : c.name)?.toLowerCase();
    return !c.deleted && text !== undefined && (how === ':' ? text === sought : text.includes(sought));
  });
  const data = found.reverse();
  return {
    object: 'search_result',
    url: '/v1/customers/search',
    has_more: data.length > limit,
    next_page: data.length > limit ? 'page_2' : null,
    data: data.slice(0, limit).map(render),
  };
}
