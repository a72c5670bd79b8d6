// Login with an API key, logout, and the style and script files of every page.
import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { OpenToAll } from '../api/access/access.js';
import { addressOf } from '../api/access/client-address.js';
import { Denials } from '../api/access/denials.js';
import { KeyRing } from '../api/access/key-ring.js';
import { notFound } from '../api/http/problem.js';
import { assets } from './assets.js';
import { ConsoleAudit } from './console-audit.js';
import { ConsoleFilter } from './console.filter.js';
import { Page, sessionOf } from './console.guard.js';
import { formOf } from './form.js';
import { html, type Piece } from './html.js';
import { secure } from './layout.js';
import { LoginFormGuard } from './login-form.guard.js';
import { alarm, ownPath, sendLogin } from './login-page.js';
import { Pages } from './pages.js';
import { LoginThrottle } from './login-throttle.js';
import { Sessions } from './session.js';
import { IdentityProvider } from './sso/identity-provider.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

const NEEDS_HTTPS =
  'The key is right, but you are not logged in: in production a browser keeps a session over https only, and this page came over plain http. Open the console at its https address, through a proxy with TLS.';

@ApiExcludeController()
@OpenToAll()
@UseFilters(ConsoleFilter)
@UseGuards(LoginFormGuard)
@Controller('console')
export class LoginController {
  constructor(
    private readonly keys: KeyRing,
    private readonly sessions: Sessions,
    private readonly throttle: LoginThrottle,
    private readonly denials: Denials,
    private readonly audit: ConsoleAudit,
    private readonly provider: IdentityProvider,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  @Get('assets/:version/:name')
  asset(@Param('version') version: string, @Param('name') name: string, @Res() res: Response): void {
    const found = Object.values(assets).find((a) => a.url.endsWith(`/${name}`));
    if (found === undefined) throw notFound('file');
    secure(res);
    // A browser may cache the file for ever only if the address has our own hash. During an update two replicas may run
    // different releases, and a browser must not keep our file under the other release's address.
    const kept = found.url === `/console/assets/${version}/${name}`;
    res.setHeader('Cache-Control', kept ? 'public, max-age=31536000, immutable' : 'no-store');
    res.setHeader('Content-Type', found.type);
    res.send(found.bytes);
  }

  @Get('login')
  async form(
    @Req() req: Request,
    @Res() res: Response,
    @Query('to') to: unknown,
    @Query('ended') ended: unknown,
  ): Promise<void> {
    if ((await this.sessions.of(req)) !== null) {
      secure(res);
      res.redirect(303, ownPath(to));
      return;
    }
    const said =
      ended === undefined ? null : html`<p class="message">Your session had ended, so Crossbill did nothing.</p>`;
    this.show(req, res, { status: 200, to: ownPath(to), said });
  }

  @Post('login')
  @HttpCode(303)
  async login(@Req() req: Request, @Res() res: Response): Promise<void> {
    const form = formOf(req);
    const address = addressOf(req);
    const to = ownPath(form.text('to'));
    // A right key logs in even during a wait: many people share an address, and one sender of wrong keys would lock
    // them all out. Guessing does not help: no number of guesses finds a key of 32 characters or more.
    const caller = this.keys.identify(form.text('key'));
    if (caller === null) {
      const wait = this.throttle.waitSec(address);
      if (wait > 0) {
        res.setHeader('Retry-After', String(wait));
        this.show(req, res, {
          status: 429,
          to,
          said: alarm(`Too many wrong keys from this address. Try again in ${wait} s.`),
        });
        return;
      }
      this.throttle.failed(address);
      const about = { actor: 'unknown', role: null, action: 'console.login', target: null };
      await this.denials.record({ ...about, source: address, status: 401 });
      this.show(req, res, { status: 401, to, said: alarm("That API key isn't valid.") });
      return;
    }
    this.throttle.succeeded(address);
    if (!this.sessions.keeps(req)) {
      this.log.warn({ event: 'console.plain_http' }, 'a login came over plain http, where browsers keep no session');
      this.show(req, res, { status: 400, to, said: alarm(NEEDS_HTTPS) });
      return;
    }
    await this.audit.note(req, caller, 'console.login');
    await this.sessions.start(req, res, caller.name);
    secure(res);
    res.redirect(303, to);
  }

  private show(
    req: Request,
    res: Response,
    { status, to, said }: { readonly status: number; readonly to: string; readonly said: Piece },
  ): void {
    sendLogin(req, res, status, { provider: this.provider.host, to, said });
  }
}

@Pages('console')
export class LogoutController {
  constructor(
    private readonly sessions: Sessions,
    private readonly audit: ConsoleAudit,
  ) {}

  @Post('logout')
  @HttpCode(303)
  @Page('console.logout')
  async logout(@Req() req: Request, @Res() res: Response): Promise<void> {
    const session = sessionOf(req);
    await this.sessions.end(req, res, session);
    await this.audit.note(req, session, 'console.logout');
    secure(res);
    res.redirect(303, '/console/login');
  }
}
