// The frame and the HTTP headers of every console page.
import { createHash } from 'node:crypto';
import { type Request, type Response } from 'express';
import { assets } from './assets.js';
import { sessionIfAny } from './console.guard.js';
import { Html, html, nothing, type Piece } from './html.js';
import { navigation, type Section } from './navigation.js';
import { type Session } from './session.js';
import { typedOf } from './typed.js';

export type PageParts = {
  readonly title: string;
  /** The page's section in the menu. Null: no section. */
  readonly section: Section | null;
  readonly body: Piece;
  /** The part below the body. The page's script refreshes it every `everySec` seconds while the tab is visible. */
  readonly live?: { readonly html: Html; readonly everySec: number };
  /** The part below the live part. The script does not refresh this part, so it can be a form the reader fills in. */
  readonly after?: Piece;
};

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Sets the HTTP headers of every response of the console. */
export function secure(res: Response): void {
  res.setHeader('Content-Security-Policy', POLICY);
  // Not `no-referrer`: a browser would then send `Origin: null` with our own forms, and the guard would refuse them as
  // another site's forms.
  res.setHeader('Referrer-Policy', 'same-origin');
  res.setHeader('X-Frame-Options', 'DENY');
}

/** True if the page's script asks for the live part alone. */
export function asksForPart(req: Request): boolean {
  return req.headers['x-console-part'] === 'live';
}

export function sendPage(req: Request, res: Response, page: PageParts, status = 200): void {
  secure(res);
  res.type('html');
  if (page.live !== undefined && asksForPart(req)) {
    sendPart(req, res, page.live.html.toString());
    return;
  }
  const { problem } = typedOf(req);
  if (problem !== null && problem.retryAfterSec !== null) res.setHeader('Retry-After', String(problem.retryAfterSec));
  res.status(problem?.getStatus() ?? status).send(framed(req, page));
}

/** Sends the live part alone, or 304 if the browser has the same part already. */
function sendPart(req: Request, res: Response, part: string): void {
  const tag = `"${createHash('sha256').update(part).digest('base64url').slice(0, 22)}"`;
  res.setHeader('ETag', tag);
  if (req.headers['if-none-match'] === tag) res.status(304).end();
  else res.status(200).send(part);
}

/** The hidden session token. Without this token the guard refuses a change. */
export function formToken(session: Session): Html {
  return html`<input type="hidden" name="form_token" value="${session.formToken}" />`;
}

function framed(req: Request, { title, section, body, live, after }: PageParts): string {
  const session = sessionIfAny(req);
  const refusal = typedOf(req).message();
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title} · Crossbill</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${assets.frame.url}" />
        <link rel="stylesheet" href="${assets.parts.url}" />
        <link rel="stylesheet" href="${assets.acts.url}" />
        <script src="${assets.script.url}" defer></script>
        <script src="${assets.keys.url}" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        ${session === null ? strangerHeader(req) : header(session, section, soughtOf(req), modeOf(req))}
        ${session !== null && bannerOf(req)}
        <div class="frame">
          ${session === null ? nothing : navigation(session, section, 'side')}
          <main id="main" tabindex="-1">
            <h1>${title}</h1>
            ${refusal} ${body}
            ${live === undefined ? nothing : refusal === null ? html`<div data-live="${live.everySec}">${live.html}</div>` : live.html}
            ${after}
          </main>
        </div>
      </body>
    </html> `.toString();
}

/** The application's setting with a note for the frame of every page (`Html`). A feature may set one. */
export const BANNER = 'console banner';

function bannerOf(req: Request): Html | null {
  const banner: unknown = req.app.get(BANNER);
  return banner instanceof Html ? banner : null;
}

/** The search text, to keep it in the search field. */
function soughtOf(req: Request): string {
  const { q } = req.query ?? {};
  return typeof q === 'string' && req.path === '/console/find' ? q.slice(0, 255) : '';
}

/** A badge for Stripe's mode, test or live. Null: the mode of the API key is unknown. */
function modeOf(req: Request): Html | null {
  const mode: unknown = req.app.get('stripe mode');
  if (mode === 'live') return html`<span class="mode live">Live</span>`;
  return mode === 'test' ? html`<span class="mode">Test mode</span>` : null;
}

function strangerHeader(req: Request): Html {
  return html`<header class="top"><span class="brand">Crossbill</span> ${modeOf(req)}</header>`;
}

function header(session: Session, section: Section | null, text: string, mode: Html | null): Html {
  return html`<header class="top">
    <a class="brand" href="/console">Crossbill</a>
    ${mode}
    <details class="menu">
      <summary>Menu</summary>
      ${navigation(session, section, 'menu')}
    </details>
    <form class="find" role="search" action="/console/find" method="get">
      <label class="unseen" for="find">Search</label>
      <input
        id="find"
        type="search"
        name="q"
        value="${text}"
        placeholder="E-mail, name, amount, number or id"
        maxlength="255"
      />
      <button>Find</button>
    </form>
    <form class="who" action="/console/logout" method="post">
      ${formToken(session)}
      <button type="button" class="quiet" data-times hidden>Times</button>
      <span class="name">${session.name} <span class="dim">(${session.role})</span></span>
      <button class="quiet">Log out</button>
    </form>
  </header>`;
}
