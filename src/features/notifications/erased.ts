// The SQL of an erasure, for notifications.
import { ERASED } from '../../shared/domain/foreign-words.js';

/**
 * For an erasure: removes the decline reasons, and the addresses of payment links, from notifications about the invoices
 * `$1`. Anybody with such an address sees whose invoice it is.
 */
export const FORGET_WORDS = `
  update notification set body = case
      when format = 'slack' then '{"text":"${ERASED}"}'
      when type = 'customer.method_needed' then jsonb_set(body::jsonb, '{data,failure_message}', 'null')::text
      else jsonb_set(body::jsonb, '{data,url}', '"${ERASED}"')::text end
   where invoice_id = any($1)
     and case when type = 'payment_link.created' then position('"${ERASED}"' in body) = 0
              when type = 'customer.method_needed' and format = 'standard'
              then body::jsonb -> 'data' ->> 'failure_message' is not null else false end`;
