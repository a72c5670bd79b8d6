// The login page: with an API key, or through the identity provider if there is one.
import { type Request, type Response } from 'express';
import { html, type Piece } from './html.js';
import { sendPage } from './layout.js';

/**
 * Sends the login page.
 * @param provider the identity provider's host name; null: there is none
 * @param to the page after the login
 */
export function sendLogin(
  req: Request,
  res: Response,
  status: number,
  { provider, to, said }: { readonly provider: string | null; readonly to: string; readonly said: Piece },
): void {
  const body = html`${said}
    ${
      provider !== null &&
      html`<div class="card login">
        <p><a class="button" href="/console/sso?to=${encodeURIComponent(to)}">Sign in at ${provider}</a></p>
        <p class="dim">With your company's account. Your e-mail address is your name in the audit trail.</p>
      </div>`
    }
    <form class="card login" action="/console/login" method="post">
      <input type="hidden" name="to" value="${to}" />
      <p>
        <label for="key"
          >API key <span class="hint">One of API_KEYS. The role ops can act; the role read can only look.</span></label
        >
        <input
          id="key"
          name="key"
          type="password"
          required
          autocomplete="current-password"
          ${provider === null && html`autofocus`}
        />
      </p>
      <button>Log in</button>
    </form>`;
  sendPage(req, res, { title: 'Crossbill console', section: null, body }, status);
}

export const alarm = (text: string): Piece => html`<p class="message bad" role="alert">${text}</p>`;

/** The longest kept address: a sign-in's cookie and the login form have it, and both have limits of a few thousand bytes. */
const LONGEST_PATH = 1_000;

/** Returns the page to open after the login. Replaces an address outside the console with the console's first page. */
export function ownPath(to: unknown): string {
  const isOurs = typeof to === 'string' && to.length <= LONGEST_PATH && URL.canParse(to, HERE);
  // The parser takes the dots out of a path, and reads a backslash like a browser does.
  const { origin, pathname, search } = isOurs ? new URL(to, HERE) : new URL(HERE);
  return origin === HERE && /^\/console(\/|$)/.test(pathname) ? pathname + search : '/console';
}

const HERE = 'http://console.invalid';
