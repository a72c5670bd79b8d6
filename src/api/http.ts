// How the application handles HTTP: headers, limits, the form of input and errors, and its own documentation.
import { type NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { CONFIG, type Config, stripeMode } from '../config/index.js';
import { openApi, type Webhooks } from './http/openapi.js';

const nothing = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  referrerPolicy: { policy: 'no-referrer' },
});
// The documentation page loads only its own files. Its styles are inline.
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

/** Call once, before `init`. The application has `bodyParser: false`: it reads a body only once the sender is known. */
export function configureHttp(app: NestExpressApplication, webhooks: Webhooks): void {
  app.disable('x-powered-by');
  app.disable('etag');
  const config = app.get<Config>(CONFIG);
  const { shadow, trustedProxies } = config;
  // Every console page shows these two values in its frame.
  app.set('shadow', shadow);
  app.set('stripe mode', stripeMode(config));
  // Anybody could send X-Forwarded-For, so only these proxies are trusted.
  app.set('trust proxy', [...trustedProxies]);
  app.set('query parser', 'simple');
  app.use((req: Request, res: Response, next: NextFunction) => {
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
