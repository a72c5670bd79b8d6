// `crossbill webhooks`: shows the webhook addresses to register at the MoR for the events of Document 2.
import { MOR_SERVICE_TYPES } from '../../core/mor-objects/event-rows.js';
import { type EndpointView, MorWebhooksController } from '../../core/events/webhook-endpoints.controller.js';
import { columns } from './cli.js';
import { type Commands } from './commands.js';
import { plain } from './table.js';

export function addWebhooks(on: Commands): void {
  const webhooks = on.group('webhooks', on.about);
  webhooks.add('list', 'endpoints and the events they get', true).action(
    on.run(async (cli) => {
      const page = await (await cli.open()).get(MorWebhooksController).list();
      await cli.printPage(page, columns<EndpointView>('id', 'status', 'url', 'events'));
    }),
  );
  webhooks
    .add('register', 'have the MoR deliver to an address; Crossbill shows the secret only once')
    .requiredOption('--url <url>', 'https address of /webhooks/mor/events')
    .option('--events <types...>', 'event types; default: all types in use')
    .action(
      on.run(async (cli, { url, events = [...MOR_SERVICE_TYPES] }) => {
        const app = await cli.open();
        const made = await app.change(
          'webhook.register',
          null,
          () => app.get(MorWebhooksController).create({ url, events }),
          ({ id }) => ({ target: id, detail: { url } }),
        );
        await cli.print(made, () => {
          const secret = made.secret === undefined ? '' : `Its secret, shown only now:\n\n  ${made.secret}\n\n`;
          return `Registered ${plain(made.id)} for ${plain(made.url)}.\n${secret}${plain(made.next)}\n`;
        });
      }),
    );
  webhooks
    .add('delete <id>', 'delete an endpoint: the MoR stops its deliveries')
    .option('--yes', 'do not ask for confirmation')
    .action(
      on.run(async (cli, id) => {
        await cli.confirm(`Delete the MoR's webhook endpoint ${id}?`);
        const app = await cli.open();
        await app.change('webhook.delete', id, () => app.get(MorWebhooksController).remove(id));
        await cli.print({ id, deleted: true }, () => `Deleted ${plain(id)}.\n`);
      }),
    );
}
