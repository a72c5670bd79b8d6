// The flows as a Nest module: what may be asked of the bridge goes out, how it decides stays in domain/.
import { type Abstract, type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { BillingPlatform } from '../domain/ports/billing-platform.js';
import { BillingReader } from '../domain/ports/billing-reader.js';
import { ChannelEvents } from '../domain/ports/channel-events.js';
import { Books } from '../domain/ports/books.js';
import { Clock, Ids, Rng } from '../domain/ports/clock.js';
import { Inbox } from '../domain/ports/inbox.js';
import { LaneStore } from '../domain/ports/lane-store.js';
import { DoorsLog, LossBooks, MorLookups } from '../domain/ports/loss.js';
import { MorChannels } from '../domain/ports/mor-channels.js';
import { Onboardings, PartnerDesk } from '../domain/ports/onboarding.js';
import { EventRelay, PaymentGateway } from '../domain/ports/payment-gateway.js';
import { ReviewDesk } from '../domain/ports/review-desk.js';
import { Requests, Signups } from '../domain/ports/signups.js';
import { TaxBasisReader, TaxDesk } from '../domain/ports/tax.js';
import { VerifyBooks } from '../domain/ports/verify-books.js';
import { type FlowSettings } from '../domain/settings.js';
import { ChannelFlow } from '../channels/channel.flow.js';
import { CommandFlow } from './command.flow.js';
import { FlowContext } from './flow-context.js';
import { type LaneWatch } from './lane-trail.js';
import { LossWindowFlow } from '../verify/loss-window.flow.js';
import { OnboardingFlow } from '../onboarding/onboarding.flow.js';
import { RouteChannelEventsFlow } from '../channels/route-channel-events.flow.js';
import { ReturnsFlow } from '../statements/returns.flow.js';
import { SignupFlow } from '../signups/signup.flow.js';
import { TaxErrands } from '../tax/tax-errands.js';
import { VerifyFlow } from '../verify/verify.flow.js';
import { Wake } from './wake.js';
import { type LiveModeRule, WorkLaneFlow } from './work-lane.flow.js';

/** A flow that is made of these parts, in the order of its constructor. The flows themselves know nothing of Nest. */
function madeOf<T, P extends readonly unknown[]>(
  flow: new (...parts: P) => T,
  ...parts: { readonly [K in keyof P]: Abstract<P[K]> }
): Provider {
  return { provide: flow, useFactory: (...made: P) => new flow(...made), inject: [...parts] };
}

@Global()
@Module({})
export class FlowsModule {
  static register(setup: {
    readonly imports: NonNullable<DynamicModule['imports']>;
    readonly settings: FlowSettings;
    readonly livemode: LiveModeRule;
    /** Told of each step of the work on a lane; null: nobody is. */
    readonly watch: LaneWatch | null;
  }): DynamicModule {
    const { settings, livemode, watch } = setup;
    return {
      module: FlowsModule,
      imports: setup.imports,
      providers: [
        Wake,
        {
          provide: FlowContext,
          useFactory: (clock: Clock, rng: Rng, ids: Ids, platform: BillingPlatform, gateway: PaymentGateway) =>
            new FlowContext(settings, clock, rng, ids, platform, gateway),
          inject: [Clock, Rng, Ids, BillingPlatform, PaymentGateway],
        },
        {
          provide: WorkLaneFlow,
          useFactory: (
            store: LaneStore,
            platform: BillingPlatform,
            gateway: PaymentGateway,
            relay: EventRelay,
            context: FlowContext,
            channels: MorChannels,
            router: RouteChannelEventsFlow,
            tax: TaxErrands,
          ) => new WorkLaneFlow(store, platform, gateway, relay, context, livemode, channels, router, tax, watch),
          inject: [
            LaneStore,
            BillingPlatform,
            PaymentGateway,
            EventRelay,
            FlowContext,
            MorChannels,
            RouteChannelEventsFlow,
            TaxErrands,
          ],
        },
        madeOf(TaxErrands, TaxDesk, TaxBasisReader, Signups),
        madeOf(RouteChannelEventsFlow, ChannelEvents, FlowContext, Wake),
        madeOf(CommandFlow, LaneStore, Books, FlowContext, Wake, ReviewDesk),
        madeOf(ReturnsFlow, LaneStore, Books, FlowContext, Wake),
        madeOf(ChannelFlow, LaneStore, Books, BillingReader, MorChannels, FlowContext, Wake),
        {
          provide: OnboardingFlow,
          useFactory: (desk: PartnerDesk, rows: Onboardings, clock: Clock) =>
            new OnboardingFlow(desk, rows, clock, settings.shadow === true),
          inject: [PartnerDesk, Onboardings, Clock],
        },
        madeOf(SignupFlow, Signups, Books, PaymentGateway, CommandFlow, Clock, Ids, Requests, TaxDesk),
        madeOf(
          VerifyFlow,
          VerifyBooks,
          BillingReader,
          BillingPlatform,
          PaymentGateway,
          Inbox,
          LaneStore,
          FlowContext,
          Wake,
          Ids,
          LossWindowFlow,
        ),
        madeOf(LossWindowFlow, DoorsLog, LossBooks, MorLookups, MorChannels, Clock),
      ],
      exports: [
        VerifyFlow,
        LossWindowFlow,
        Wake,
        FlowContext,
        WorkLaneFlow,
        CommandFlow,
        ReturnsFlow,
        ChannelFlow,
        OnboardingFlow,
        SignupFlow,
      ],
    };
  }
}
