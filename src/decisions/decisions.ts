// Gives the engine the rules of the subjects, and sends each lookup of a lane to the right flow.
import { Inject, Injectable, Optional } from '@nestjs/common';
import { type NewNotification, type NotifyFormat, type Told } from '../domain/notification.js';
import { putDown, putDownStep } from '../notifications/rules/put-down.js';
import { type Customers } from '../engine/lookup.js';
import { type CallOutcome } from '../domain/ports/call.js';
import { type DecidedEvent, Decider, type TellStep } from '../engine/decider.js';
import { type Claim } from '../engine/lane-store.js';
import { EnrolmentFlow } from '../enrolment/enrolment.flow.js';
import { RouteEventsFlow } from '../mor-objects/route-events.flow.js';
import { SUBJECTS } from './subjects.js';

const known = <T>(value: T): Promise<CallOutcome<T>> =>
  Promise.resolve({ ok: true, value, status: 200, requestId: null });
const NOBODY_LOOKED_UP: Customers = { look: () => known({ enrolled: true }), lookAtCharging: () => known(null) };

@Injectable()
export class Decisions extends Decider {
  readonly subjects = SUBJECTS;
  readonly customers: Customers;

  constructor(
    @Inject(RouteEventsFlow) private readonly router: Pick<RouteEventsFlow, 'run'>,
    /** Null: all customers are enrolled, so nobody is looked up. */
    @Optional() @Inject(EnrolmentFlow) enrolment: EnrolmentFlow | null = null,
  ) {
    super();
    this.customers = enrolment ?? NOBODY_LOOKED_UP;
  }

  putDownIn(format: NotifyFormat): (told: Told, at: Date) => NewNotification {
    return (told, at) => putDown(told, format, at);
  }

  tellIn(format: NotifyFormat): TellStep {
    return (before, after, at) => putDownStep(before, after, format, at);
  }

  route(claim: Claim): Promise<readonly DecidedEvent[]> {
    return this.router.run(claim);
  }
}
