// What the daemon and the command line share: settings joined to the store, to both ways out and to the flows.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Config, ConfigModule } from './config/index.js';
import { type FailureKind } from './domain/ports/call.js';
import { type FlowSettings } from './domain/settings.js';
import { FlowsModule } from './lane/flows.module.js';
import { type LaneWatch } from './lane/lane-trail.js';
import { MorModule } from './mor/mor.module.js';
import { MOR_OPTIONS, type MorOptions } from './mor/options.js';
import { type Database } from './store/database.js';
import { StoreModule } from './store/store.module.js';
import { StripeModule } from './stripe/stripe.module.js';
import { SystemModule } from './system/system-ports.js';

/** One finished call to Stripe or to the MoR. Holds no body and no secret. */
export type CallReport = {
  readonly peer: 'stripe' | 'mor';
  readonly name: string;
  readonly status: number | null;
  readonly elapsedMs: number;
  readonly requestId: string | null;
  /** The MoR's error code, of those that its documents list; left out or null: none. */
  readonly code?: string | null;
} & ({ readonly outcome: 'ok' | FailureKind } | { readonly kind: 'ok' | FailureKind });

export type CoreParts = {
  readonly config: Config;
  /** Open, and its schema current; closed with the application. */
  readonly db: Database;
  readonly onCall: (report: CallReport) => void;
  /** Told of each step of the work on a lane; null: nobody is. */
  readonly watch: LaneWatch | null;
};

/** What the MoR's client is told. Global, as the client's module asks for it. */
@Global()
@Module({})
class MorOptionsModule {
  static of(options: MorOptions): DynamicModule {
    return {
      module: MorOptionsModule,
      providers: [{ provide: MOR_OPTIONS, useValue: options }],
      exports: [MOR_OPTIONS],
    };
  }
}

/** The modules themselves: a program adds its doors, its loops or its commands. */
export function coreModules({ config, db, onCall, watch }: CoreParts): NonNullable<DynamicModule['imports']> {
  const stripe = StripeModule.registerAsync({
    useFactory: () => ({
      apiKey: config.stripeApiKey.reveal(),
      apiBase: config.stripeApiBase,
      customPaymentMethodType: config.stripeCustomPaymentMethodType,
      maxSockets: Math.max(32, config.workerConcurrency), // one for each call that the workers may wait for
      shadow: config.shadow,
      onCall,
    }),
  });
  return [
    SystemModule,
    ConfigModule.of(config),
    StoreModule.register(db, config.stripeMaxRps),
    MorOptionsModule.of({ ...morOptions(config), onCall }),
    MorModule,
    stripe,
    FlowsModule.register({
      imports: [MorModule, stripe],
      settings: flowSettings(config),
      livemode: livemodeOf(config),
      watch,
    }),
  ];
}

function flowSettings(config: Config): FlowSettings {
  return {
    markMode: config.billingMarkMode,
    draftPolicy: config.billingDraftPolicy,
    renewalAlarmAfterHours: config.renewalAlarmAfterHours,
    bankDebitAlarmAfterDays: config.bankDebitAlarmAfterDays,
    signupChargeCheck: config.signupChargeCheck,
    relay: config.morRelayUrl !== null,
    morProduct: config.morProduct,
    recoveryLinks: recoveryLinks(config),
    shadow: config.shadow,
  };
}

function recoveryLinks(config: Config): FlowSettings['recoveryLinks'] {
  const { recoveryLinkJurisdiction: jurisdiction, recoveryLinkReturnUrl: returnUrl } = config;
  if (jurisdiction === null || returnUrl === null) return null;
  return { jurisdiction, returnUrl, expiresSec: config.recoveryLinkExpiresSec };
}

/** Stripe's keys say which mode they are for; an event of the other mode is none of ours. */
function livemodeOf(config: Config): { readonly expected: boolean | null } {
  const key = config.stripeApiKey.reveal();
  if (/^(sk|rk)_live_/.test(key)) return { expected: true };
  return { expected: /^(sk|rk)_test_/.test(key) ? false : null };
}

function morOptions(config: Config): MorOptions {
  const { morPartnerClientId, morPartnerClientSecret, morRelayUrl, morRelaySecret } = config;
  return {
    baseUrl: config.morBaseUrl,
    authUrl: config.morAuthUrl,
    psp: config.morPsp,
    shadow: config.shadow,
    merchant: { clientId: config.morClientId, clientSecret: config.morClientSecret },
    partner:
      morPartnerClientId !== null && morPartnerClientSecret !== null
        ? { clientId: morPartnerClientId, clientSecret: morPartnerClientSecret }
        : null,
    relay: morRelayUrl !== null && morRelaySecret !== null ? { url: morRelayUrl, secret: morRelaySecret } : null,
  };
}
