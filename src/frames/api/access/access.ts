// Declares the role a route's callers need. A route without a declaration is closed to everybody.
import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiForbiddenResponse, ApiUnauthorizedResponse, ApiExtension } from '@nestjs/swagger';
import { type ApiRole } from '../../../shared/config/index.js';
import { ProblemView } from '../http/problem.view.js';

export const RULE = Symbol('access rule');

export type AccessRule =
  | { readonly open: true }
  | {
      readonly open: false;
      readonly role: ApiRole;
      /** The action's name in the audit log, for example `refund.create`. */
      readonly action: string;
      /** True: the route changes something, so every use gets a row in the audit log. */
      readonly changes: boolean;
      /** True: the route changes something at Stripe or the MoR, or leads to such a change. Shadow mode refuses it. */
      readonly outside: boolean;
      /** The member of the reply with the id of the new object, for the audit log. Never a free text. */
      readonly made: 'id' | 'customer_id' | 'reference';
    };

/** Declares a read-only route. Only a refusal gets a row in the audit log. */
export function MayRead(role: ApiRole, action: string): MethodDecorator {
  return needs({ open: false, role, action, changes: false, outside: false, made: 'id' });
}

/**
 * Declares a route with changes. The audit log records every use with its result. `outside: false`: the route changes
 * only our own database.
 */
export function MayChange(
  role: ApiRole,
  action: string,
  {
    outside = true,
    made = 'id',
  }: { readonly outside?: boolean; readonly made?: 'id' | 'customer_id' | 'reference' } = {},
): MethodDecorator {
  return needs({ open: false, role, action, changes: true, outside, made });
}

/** Declares a route for everybody, without a key. */
export const OpenToAll = (): ClassDecorator & MethodDecorator => SetMetadata(RULE, { open: true } satisfies AccessRule);

function needs(rule: Exclude<AccessRule, { open: true }>): MethodDecorator {
  return applyDecorators(
    SetMetadata(RULE, rule),
    ApiBearerAuth('api-key'),
    ApiExtension('x-role', rule.role),
    ApiUnauthorizedResponse({
      description: '`unauthorized`: no API key, or a wrong key. Audited.',
      type: ProblemView,
    }),
    ApiForbiddenResponse({ description: `\`forbidden\`: needs the role ${rule.role}. Audited.`, type: ProblemView }),
  );
}
