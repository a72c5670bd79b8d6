// A route's needs of its caller, written on the route. A route without them is open to nobody.
import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiForbiddenResponse, ApiUnauthorizedResponse, ApiExtension } from '@nestjs/swagger';
import { type ApiRole } from '../../config/index.js';
import { ProblemView } from '../http/problem.view.js';

export const RULE = Symbol('access rule');

export type AccessRule =
  | { readonly open: true }
  | {
      readonly open: false;
      readonly role: ApiRole;
      /** Its name in the audit trail, for example `refund.create`. */
      readonly action: string;
      /** True: it changes something, so every use of it gets an audit row. */
      readonly changes: boolean;
      /** True: it changes something at Stripe or the MoR, or leads there; shadow mode refuses it. */
      readonly outside: boolean;
    };

/** For reading: the role uses it freely; only a refusal gets an audit row. */
export function MayRead(role: ApiRole, action: string): MethodDecorator {
  return needs({ open: false, role, action, changes: false, outside: false });
}

/** For changing something: audited with its outcome. `outside: false`: it changes nothing but our own database. */
export function MayChange(role: ApiRole, action: string, { outside = true } = {}): MethodDecorator {
  return needs({ open: false, role, action, changes: true, outside });
}

/** For everybody, without a key. */
export const OpenToAll = (): ClassDecorator & MethodDecorator => SetMetadata(RULE, { open: true } satisfies AccessRule);

function needs(rule: Exclude<AccessRule, { open: true }>): MethodDecorator {
  return applyDecorators(
    SetMetadata(RULE, rule),
    ApiBearerAuth('api-key'),
    ApiExtension('x-role', rule.role),
    ApiUnauthorizedResponse({
      description: '`unauthorized`: no key, or one that is not ours. Audited.',
      type: ProblemView,
    }),
    ApiForbiddenResponse({ description: `\`forbidden\`: needs the role ${rule.role}. Audited.`, type: ProblemView }),
  );
}
