// How the application speaks HTTP: headers, limits, the shape of input and errors, and its own documentation.
import { type INestApplication } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { CONFIG, type Config } from '../config/index.js';

const nothing = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  referrerPolicy: { policy: 'no-referrer' },
});
// The documentation is a page of its own files; its styles are inline.
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

/** Call once, before `init`. The application is made with `bodyParser: false`: bodies are read when their sender is known. */
export function configureHttp(app: NestExpressApplication, webhooks: Webhooks): void {
  app.disable('x-powered-by');
  app.disable('etag');
  const { shadow, trustedProxies } = app.get<Config>(CONFIG);
  app.set('shadow', shadow); // the console's frame says so on every page
  // Whoever can reach us could write X-Forwarded-For: only these are believed.
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

/** What the daemon sends by itself, as OpenAPI has it. */
export type Webhooks = NonNullable<OpenAPIObject['webhooks']>;

/** The OpenAPI document of every route, and of what is sent. */
export function openApi(app: INestApplication, webhooks: Webhooks): OpenAPIObject {
  const about = new DocumentBuilder()
    .setTitle('Crossbill')
    .setDescription(
      'A bridge between Stripe Billing and a Merchant of Record. Amounts are integers in the smallest unit of the currency, as Stripe counts it; times are ISO 8601 in UTC. Lists are newest first. Errors are `{code, message, errors}`. Roles: `read`, `signup`, `ops`; each includes the one before.',
    )
    .setVersion('1')
    .setOpenAPIVersion('3.1.0') // the first that has webhooks
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'A key of API_KEYS.' }, 'api-key')
    .build();
  return SwaggerModule.createDocument(app, { ...about, webhooks });
}
