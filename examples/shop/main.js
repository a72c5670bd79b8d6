// Starts the shop with the settings of its environment (README.md lists them).
import { startShop } from './server.js';

const setting = (name) => {
  const value = process.env[name];
  if (!value) {
    console.error(
      `${name} is not set. \`npm run example\` in the project's folder sets everything; README.md says what each is.`,
    );
    process.exit(1);
  }
  return value;
};

const shop = await startShop({
  port: Number(process.env.PORT ?? 4000),
  stripeKey: setting('STRIPE_API_KEY'),
  stripeBase: process.env.STRIPE_API_BASE ?? 'https://api.stripe.com',
  crossbillUrl: setting('CROSSBILL_URL'),
  crossbillKey: setting('CROSSBILL_API_KEY'),
  notifySecret: setting('NOTIFY_SECRET'),
  publishableKey: setting('PUBLISHABLE_KEY'),
  confirmScript: setting('CONFIRM_SCRIPT'),
  paymentMethodType: setting('STRIPE_CUSTOM_PAYMENT_METHOD_TYPE'),
}).catch((error) => {
  console.error(error.code === 'EADDRINUSE' ? `port ${error.port} is taken: choose another PORT` : error);
  process.exit(1);
});
console.log(`shop: ${shop.url}`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void shop.close().then(() => process.exit(0)));
