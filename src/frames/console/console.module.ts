// The shared base of the console's pages: sign-in, sessions, audit. Most pages are in other folders, such as refunds/
// and events/.
import { Module } from '@nestjs/common';
import { ApiModule } from '../api/api.module.js';
import { CustomerNames } from './customer-names.js';
import { Needs } from './needs.js';
import { ObjectSearch } from './search-results.js';
import { Finder } from './finder.js';
import { ConsoleSessions } from './console-sessions.js';
import { SessionsRepository } from './sessions.repository.js';
import { ConsoleAudit } from './console-audit.js';
import { LoginController, LogoutController } from './login.controller.js';
import { LoginThrottle } from './login-throttle.js';
import { RootController } from './root.controller.js';
import { Sessions } from './session.js';
import { SessionsPages } from './sessions.pages.js';
import { SettingsPages } from './settings.pages.js';
import { IdentityProvider } from './sso/identity-provider.js';
import { SsoController } from './sso/sso.controller.js';
import { SsoCookie } from './sso/sso-cookie.js';

/** Every module with console pages imports this module. */
@Module({
  imports: [ApiModule],
  controllers: [RootController, LoginController, LogoutController, SsoController, SessionsPages, SettingsPages],
  providers: [
    Sessions,
    LoginThrottle,
    ConsoleAudit,
    CustomerNames,
    Finder,
    Needs,
    ObjectSearch,
    IdentityProvider,
    SsoCookie,
    { provide: ConsoleSessions, useClass: SessionsRepository },
  ],
  exports: [Sessions, ConsoleAudit, CustomerNames, Finder, Needs, ObjectSearch, ApiModule],
})
export class ConsoleModule {}
