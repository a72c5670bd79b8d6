// Which role may do what.
import { type ApiRole, API_ROLES } from '../../../shared/config/index.js';

/** True if the role is enough. Each role of API_ROLES includes the roles before it in that list. */
export function mayDo(has: ApiRole, needs: ApiRole): boolean {
  return API_ROLES.indexOf(has) >= API_ROLES.indexOf(needs);
}
