// Builds the OpenAPI document of every route, and of the daemon's notifications.
import { definitionsOf } from '@crossbill/mor';
import { type INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { MOR_SHAPES } from './mor-shapes.js';
import { withExamples } from './examples.js';
import { ProblemView } from './problem.view.js';

/** The daemon's notifications, in OpenAPI's form. */
export type Webhooks = NonNullable<OpenAPIObject['webhooks']>;

declare module '../../../feature.js' {
  interface Feature {
    /** The webhooks that Crossbill sends for the feature, for the OpenAPI document. */
    readonly webhooks?: () => Promise<Webhooks>;
  }
}

/** The groups of routes, in the order a developer needs them. */
const TAGS: Readonly<Record<string, string>> = {
  Signups: "A customer's first payment, or the payment method of a trial.",
  Customers: "The merchant's customers and their ids at the MoR.",
  Invoices: "Stripe's invoices with all known facts about their payment.",
  Payments: 'Payments at the MoR: taken, refused, or still on their way.',
  Refunds: 'Money given back at the MoR and shown on Stripe.',
  'Payment links': 'A page of the MoR where the customer pays an invoice.',
  'Bank transfers': 'An invoice as a proforma invoice of the MoR, for a customer who pays by transfer.',
  Documents: 'Links to the invoice files of the MoR, fresh in each answer.',
  Tax: 'Tax calculations and transactions of the MoR, and its catalogue of products.',
  Notifications: 'Notifications to your backend, and their replay.',
  Reviews: 'Review items: work for a person.',
  Ledger: 'Every movement of money, by double entry.',
  Verify: 'Differences between Stripe, the MoR and the ledger.',
  'Returned debits': 'A settled bank debit that the bank took back.',
  Events: 'Webhook events as they came from Stripe and the MoR.',
  Audit: 'Changes and refused requests, each with its key or person.',
  'MoR webhooks': 'Your webhook addresses at the MoR.',
  Onboarding: "A platform's merchants on their way to an account at the MoR.",
  Health: 'For supervisors, load balancers and scrapers. No key.',
};

/** Builds the document. Each call makes a new one, so the caller may change it. */
export function openApi(app: INestApplication, webhooks: Webhooks): OpenAPIObject {
  const about = new DocumentBuilder()
    .setTitle('Crossbill')
    .setDescription(
      'A bridge between Stripe Billing and a Merchant of Record. Amounts are integers in the smallest unit of the currency, as Stripe counts it; times are ISO 8601 in UTC. Lists are newest first. Errors are `{code, message, errors}`. Roles: `read`, `signup`, `ops`; each includes the one before.',
    )
    .setVersion('1')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion('3.1.0') // the first version with webhooks
    .addServer('/', 'This daemon')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'A key of API_KEYS.' }, 'api-key');
  for (const [name, description] of Object.entries(TAGS)) about.addTag(name, description);
  const document = SwaggerModule.createDocument(app, about.build(), { extraModels: [ProblemView] });
  document.components = { ...document.components };
  document.components.schemas = { ...document.components.schemas, ...definitionsOf(MOR_SHAPES) };
  for (const path of Object.values(document.paths)) {
    for (const operation of [path.get, path.post, path.put, path.patch, path.delete]) {
      if (operation !== undefined) operation.security ??= []; // the empty list states that the route needs no key
    }
  }
  return withExamples({ ...document, webhooks });
}
