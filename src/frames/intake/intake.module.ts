// The webhook endpoints as a Nest module, and the memory limit for all bodies (`ReadingRoom`).
import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { CONFIG, type Config, notifies, type Secret } from '../../shared/config/index.js';
import { Notifications } from '../store/notifications.js';
import { Decider } from '../../engine/decider.js';
import { EngineModule } from '../../engine/engine.module.js';
import { LaneSignal } from '../../engine/lane-signal.js';
import { LOG, type Logger, Metrics } from '../../shared/observe/index.js';
import { BodyMonths } from '../store/event-bodies.js';
import { BodyMonthsAhead } from './body-months.js';
import { statusOf } from './replies.js';
import { EndpointReplies } from './endpoint-replies.js';
import { EndpointRepliesRepository } from './endpoint-replies.repository.js';
import { Endpoints } from './endpoints.js';
import { INTAKE_OPTIONS, type IntakeOptions } from './options.js';
import { ReadingRoom } from './read-body.js';
import { SignatureForms } from './signature-forms.js';
import { RefusalNotices } from './refusal-notices.js';
import { watchEndpoints } from './watch-endpoints.js';

/** The endpoints stay closed until `open`. */
@Module({
  imports: [EngineModule],
  providers: [
    {
      provide: ReadingRoom,
      useFactory: (config: Config) => ReadingRoom.forBodiesUpTo(config.webhookBodyLimitBytes),
      inject: [CONFIG],
    },
    {
      provide: INTAKE_OPTIONS,
      useFactory: intakeOptions,
      inject: [CONFIG, ReadingRoom, LaneSignal, Metrics, LOG, Notifications, EndpointReplies, SignatureForms, Decider],
    },
    EndpointReplies,
    SignatureForms,
    Endpoints,
    BodyMonthsAhead,
    EndpointRepliesRepository,
    BodyMonths,
  ],
  exports: [ReadingRoom, EndpointRepliesRepository, SignatureForms],
})
export class IntakeModule {}

function intakeOptions(
  config: Config,
  room: ReadingRoom,
  signal: LaneSignal,
  metrics: Metrics,
  log: Logger,
  notifications: Notifications,
  replies: EndpointReplies,
  forms: SignatureForms,
  decider: Decider,
): IntakeOptions {
  const watch = watchEndpoints(metrics, log, signal);
  const notices = new RefusalNotices(notifications, notifies(config) ? decider.putDownAs(config) : null, log);
  const reveal = (secrets: readonly Secret[]): string[] =>
    // An endpoint without a secret in the settings gets a random secret. Nobody knows this secret, so the endpoint
    // refuses every delivery.
    secrets.length > 0 ? secrets.map((s) => s.reveal()) : [randomBytes(32).toString('hex')];
  return {
    secrets: {
      stripe: reveal(config.stripeWebhookSecrets),
      mor_payments: reveal(config.morPaymentWebhookSecrets),
      mor_events: reveal(config.morEventWebhookSecrets),
    },
    toleranceSec: config.webhookToleranceSec,
    bodyLimitBytes: config.webhookBodyLimitBytes,
    room,
    onSignature: (source, header, isReadable) => forms.saw(source, header, isReadable),
    onReply: (endpoint, outcome, about) => {
      watch(endpoint, outcome, about);
      if (endpoint === null) return;
      const at = new Date();
      notices.saw(endpoint, outcome, about.signed, at);
      replies.saw(endpoint, outcome, { status: statusOf(endpoint, outcome), at, address: about.address });
    },
  };
}
