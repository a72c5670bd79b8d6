// `crossbill webhooks`: where the MoR delivers the events of Document 2.
import { type WebhookEndpoint, webhookEndpointRequest, WebhookEndpoints } from '@crossbill/mor';
import { type Command } from 'commander';
import { morServiceTypes } from '../domain/events/mor-service-event.js';
import { type CallFailure, type CallOutcome, mayPass } from '../domain/ports/call.js';
import { CliError, EXIT } from './exit-codes.js';
import { need, type Session } from './session.js';
import { plain, table } from './table.js';

/** The value of an answer. Throws what the MoR said, with the exit code that fits. */
function valueOf<T>(outcome: CallOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw failureOf(outcome);
}

function failureOf(f: CallFailure): CliError {
  const fields = f.errors.map((e) => `\n  ${plain(e.field)}: ${plain(e.message)}`).join('');
  return new CliError(mayPass(f) ? EXIT.unreachable : EXIT.failed, f.code ?? f.kind, `${plain(f.message)}${fields}`);
}

export function addWebhooks(program: Command, session: Session): void {
  const webhooks = program.command('webhooks').description("the MoR's webhook endpoints");
  session.leaf(
    webhooks,
    'list',
    'endpoints and the events they get',
    async (cli) => {
      const world = await cli.open();
      const endpoints = valueOf(await world.get(WebhookEndpoints).list());
      await cli.print({ data: endpoints.map(view) }, () =>
        table(
          ['id', 'status', 'url', 'events'],
          endpoints.map((e) => [e.id, e.status, e.url, e.events.join(' ')]),
        ),
      );
      return EXIT.ok;
    },
    true,
  );
  session
    .leaf(webhooks, 'register', 'have the MoR deliver to an address; the secret is shown once', async (cli) => {
      const events = (cli.options['events'] as string[] | undefined) ?? [...morServiceTypes];
      const checked = webhookEndpointRequest.check({ url: String(cli.options['url']), events });
      if (!checked.ok) {
        const why = checked.errors.map((e) => `${e.field} ${e.message}`).join('; ');
        throw new CliError(EXIT.usage, checked.code, `Not registered: ${plain(why)}`);
      }
      const world = await cli.open();
      const { endpoint, secret } = await world.change(
        'webhook.register',
        null,
        async () => {
          const made = await world.get(WebhookEndpoints).create(checked.value);
          if (!made.ok && made.kind === 'unknown') {
            cli.io.err(
              'No answer came: `crossbill webhooks list` says whether it is there. Its secret is lost: delete it then and register again.\n',
            );
          }
          return valueOf(made);
        },
        (made) => ({ target: made.endpoint.id, detail: { url: made.endpoint.url } }),
      );
      await cli.print({ ...view(endpoint), secret: secret?.reveal() ?? null }, () =>
        [
          `Registered ${plain(endpoint.id)} for ${plain(endpoint.url)}.`,
          secret === null
            ? 'The answer had no secret: ask the MoR.'
            : `Its secret, shown this once:\n\n  ${secret.reveal()}\n\nPut it into MOR_EVENT_WEBHOOK_SECRETS and restart the daemon.`,
          '',
        ].join('\n'),
      );
      return EXIT.ok;
    })
    .requiredOption('--url <url>', 'https address of /webhooks/mor/events')
    .option('--events <types...>', 'event types; default: all that Crossbill uses');
  session
    .leaf(webhooks, 'delete <id>', 'end the deliveries to an endpoint', async (cli, args) => {
      const id = need(args);
      if (!(await cli.confirm(`Delete the MoR's webhook endpoint ${id}?`))) return EXIT.failed;
      const world = await cli.open();
      await world.change('webhook.delete', id, async () => valueOf(await world.get(WebhookEndpoints).delete(id)));
      await cli.print({ id, deleted: true }, () => `Deleted ${plain(id)}.\n`);
      return EXIT.ok;
    })
    .option('--yes', 'do not ask for confirmation');
}

function view(e: WebhookEndpoint): Record<string, unknown> {
  return { id: e.id, url: e.url, events: e.events, status: e.status, created_at: e.createdAt };
}
