// Configures HTTP for the application: headers, limits, the form of input and errors, and the API's documentation page.
import { type NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { CONFIG, type Config, stripeMode } from '../../shared/config/index.js';
import { takePortsOff } from './access/client-address.js';
import { openApi, type Webhooks } from './http/openapi.js';

const nothing = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  referrerPolicy: { policy: 'no-referrer' },
});
// The headers of the documentation page. The page loads only Crossbill's own files, and its styles are inline.
const ownPage = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
});

/**
 * Configures HTTP. Call this function one time, before `init`. Create `app` with `bodyParser: false`: Crossbill reads a
 * body only after it knows the sender.
 */
export function configureHttp(app: NestExpressApplication, webhooks: Webhooks): void {
  app.disable('x-powered-by');
  app.disable('etag');
  const config = app.get<Config>(CONFIG);
  const { trustedProxies, consoleUrl } = config;
  // Every console page shows Stripe's mode in its frame.
  app.set('stripe mode', stripeMode(config));
  // The console's own address, if a proxy in front writes another Host header.
  app.set('console url', consoleUrl);
  // Anybody could send X-Forwarded-For, so the daemon trusts it only from these proxies.
  app.set('trust proxy', [...trustedProxies]);
  app.set('query parser', 'simple');
  app.use((req: Request, res: Response, next: NextFunction) => {
    takePortsOff(req);
    if (/^\/docs(\/|$)/i.test(req.path)) {
      ownPage(req, res, next);
      return;
    }
    res.setHeader('Cache-Control', 'no-store');
    nothing(req, res, next);
  });
  SwaggerModule.setup('docs', app, () => openApi(app, webhooks), {
    jsonDocumentUrl: 'docs-json',
    raw: ['json'],
    customSiteTitle: 'Crossbill API',
    swaggerOptions: { persistAuthorization: false },
  });
}
