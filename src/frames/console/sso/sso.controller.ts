// Signs people in with the identity provider: sends them to the provider's page, and checks the provider's reply.
import { Controller, Get, Inject, Query, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { OpenToAll } from '../../api/access/access.js';
import { addressOf } from '../../api/access/client-address.js';
import { Denials } from '../../api/access/denials.js';
import { notFound } from '../../api/http/problem.js';
import { CONFIG, type Config } from '../../../shared/config/index.js';
import { ConsoleAudit } from '../console-audit.js';
import { ConsoleFilter } from '../console.filter.js';
import { html } from '../html.js';
import { secure, sendPage } from '../layout.js';
import { alarm, ownPath, sendLogin } from '../login-page.js';
import { Sessions } from '../session.js';
import { IdentityProvider, SignInFailed, STALE } from './identity-provider.js';
import { highestRole, isOfDomain, type Person } from './people.js';
import { SsoCookie } from './sso-cookie.js';

const NO_ROLE: Readonly<Record<Person['groupsSent'], string>> = {
  yes: 'none of your groups has a role here. Add a role for a group to OIDC_ROLES.',
  elsewhere:
    'you are in more groups than the identity provider can send. Let it send only the groups assigned to this console.',
  no: 'the identity provider sent no groups. Let it send the claim groups to this console.',
};

type Settings = Pick<Config, 'consoleUrl' | 'oidcRoles' | 'oidcEmailDomain'>;

@ApiExcludeController()
@OpenToAll()
@UseFilters(ConsoleFilter)
@Controller('console/sso')
export class SsoController {
  constructor(
    @Inject(CONFIG) private readonly config: Settings,
    private readonly provider: IdentityProvider,
    private readonly cookie: SsoCookie,
    private readonly sessions: Sessions,
    private readonly denials: Denials,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get()
  async begin(@Req() req: Request, @Res() res: Response, @Query('to') asked: unknown): Promise<void> {
    if (this.provider.host === null) throw notFound('page');
    const to = ownPath(asked);
    await this.orLoginPage(req, res, to, async () => {
      const signIn = this.cookie.begin(req, res, to);
      const url = await this.provider.signInUrl(signIn, this.redirectUri(req));
      secure(res);
      res.redirect(303, url.href);
    });
  }

  @Get('callback')
  async callback(@Req() req: Request, @Res() res: Response): Promise<void> {
    if (this.provider.host === null) throw notFound('page');
    const signIn = this.cookie.take(req, res);
    const to = signIn?.to ?? '/console';
    await this.orLoginPage(req, res, to, async () => {
      if (signIn === null) throw new SignInFailed(STALE, 400);
      const reply = new URL(this.redirectUri(req));
      reply.search = new URL(req.originalUrl, reply).search;
      const { name, groups } = await this.admitted(req, await this.provider.personOf(reply, signIn));
      await this.sessions.start(req, res, name, groups);
      // After a redirect from the provider's site the browser would send no session cookie, and the next console page
      // would ask for a login again. So Crossbill shows a page of its own, and this page opens the next one.
      res.setHeader('Refresh', `0;url=${to}`);
      const body = html`<p>Signed in as ${name}. <a href="${to}">Go on to the console</a></p>`;
      sendPage(req, res, { title: 'Signed in', section: null, body });
    });
  }

  /** Decides on access and audits the outcome. Rejects with SignInFailed for a person without access. */
  private async admitted(req: Request, person: Person): Promise<{ name: string; groups: readonly string[] }> {
    const { email, verified, groups, groupsSent } = person;
    const { oidcEmailDomain: domain, oidcRoles } = this.config;
    if (email === null || !verified) {
      await this.deny(req, 'unknown', 401);
      throw new SignInFailed(
        'You are not signed in: the identity provider does not confirm your e-mail address. Verify it there. The provider must also send the claims email and email_verified.',
        403,
      );
    }
    if (!isOfDomain(email, domain)) {
      await this.deny(req, email, 401);
      throw new SignInFailed(`You signed in as ${email}. Only people with an address of ${domain} can log in.`, 403);
    }
    const role = highestRole(oidcRoles, groups);
    if (role === null) {
      await this.deny(req, email, 403);
      throw new SignInFailed(`You signed in as ${email}, but ${NO_ROLE[groupsSent]}`, 403);
    }
    await this.audit.note(req, { name: email, role }, 'console.login', { via: 'sso' });
    return { name: email, groups };
  }

  private deny(req: Request, actor: string, status: 401 | 403): Promise<void> {
    return this.denials.record({
      actor,
      role: null,
      action: 'console.login',
      target: null,
      source: addressOf(req),
      status,
    });
  }

  private async orLoginPage(req: Request, res: Response, to: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof SignInFailed)) throw error;
      sendLogin(req, res, error.status, { provider: this.provider.host, to, said: alarm(error.message) });
    }
  }

  /** The redirect address, as registered at the provider. Ignores the Host header: any sender may choose it. */
  private redirectUri(req: Request): string {
    const origin = this.config.consoleUrl ?? `http://127.0.0.1:${req.socket.localPort}`;
    return `${origin}/console/sso/callback`;
  }
}
