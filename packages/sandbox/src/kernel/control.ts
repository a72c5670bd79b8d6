// The kernel's own control routes: clock, faults, logs, and the list of all control routes.
import { sinceMs } from './request-log.js';
import { Fields } from './json.js';
import { type VirtualClock } from './clock.js';
import { type Deliverer } from './deliveries.js';
import { senders } from './failing-endpoints.js';
import { type Faults } from './faults.js';
import { type Handler, type Router } from './http.js';
import { type RequestLog } from './request-log.js';

const LONGEST_ADVANCE_SEC = 10 * 366 * 86_400;

/** The parts of the kernel that the control routes act on. */
type Steered = {
  readonly clock: VirtualClock;
  readonly faults: Faults;
  readonly requests: RequestLog;
  readonly deliverer: Deliverer;
  readonly controls: Router;
  control(method: string, path: string, about: string, handler: Handler): void;
};

export function addControlRoutes(kernel: Steered): void {
  const { clock, faults, requests, deliverer } = kernel;
  const clockBody = (): object => ({
    now: clock.nowIso(),
    now_sec: clock.nowSec(),
    wall: new Date(clock.wallMs()).toISOString(),
  });

  kernel.control('GET', '/_sandbox', 'this list', () => ({ status: 200, body: { routes: kernel.controls.list() } }));
  kernel.control('GET', '/_sandbox/clock', 'the virtual time', () => ({ status: 200, body: clockBody() }));
  kernel.control(
    'POST',
    '/_sandbox/clock',
    'move virtual time on, firing what is due: {advance_sec}',
    async (request) => {
      await clock.advance(new Fields(request.body).number('advance_sec', 0, LONGEST_ADVANCE_SEC) * 1000);
      return { status: 200, body: clockBody() };
    },
  );

  kernel.control(
    'POST',
    '/_sandbox/faults',
    'make something go wrong: {target?: requests|deliveries, side?, method?, path?, type?, times?, probability?, action, …}',
    (request) => ({ status: 201, body: faults.add(request.body) }),
  );
  kernel.control('GET', '/_sandbox/faults', 'the faults and how often they hit', () => ({
    status: 200,
    body: { data: faults.list() },
  }));
  kernel.control('DELETE', '/_sandbox/faults', 'no faults any more', () => {
    faults.clear();
    return { status: 200, body: { data: [] } };
  });

  kernel.control(
    'GET',
    '/_sandbox/requests',
    'what was asked of the sandbox: ?side=&path=&method=&since=',
    (request) => ({ status: 200, body: { data: requests.find(request.query) } }),
  );
  kernel.control('DELETE', '/_sandbox/requests', 'forget the request log', () => {
    requests.clear();
    return { status: 200, body: { data: [] } };
  });

  kernel.control(
    'GET',
    '/_sandbox/deliveries',
    'every attempt of every webhook: ?side=&type=&event_id=&since=',
    (request) => {
      const { query } = request;
      const wanted = (name: string, value: string): boolean => (query.get(name) ?? value) === value;
      const since = sinceMs(query.get('since'));
      const data = deliverer
        .list()
        .filter((d) => wanted('side', d.side) && wanted('type', d.type) && wanted('event_id', d.event_id))
        .filter((d) => Date.parse(d.at) >= since);
      return { status: 200, body: { data } };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/deliveries/again',
    'send every event since then once more, as after a restore: {side?: mor|stripe, since}',
    (request) => {
      const fields = new Fields(request.body);
      const side = fields.has('side') ? fields.oneOf('side', ['mor', 'stripe'] as const) : 'mor';
      return { status: 202, body: { sent: deliverer.sendAgain(side, sinceMs(fields.string('since'))) } };
    },
  );
  kernel.control('GET', '/_sandbox/endpoints', 'when senders disable webhook endpoints, and the disabled ones', () => ({
    status: 200,
    body: deliverer.failing.show(),
  }));
  kernel.control(
    'POST',
    '/_sandbox/endpoints',
    `a sender disables a webhook endpoint after hours without a success: {disable_after_hours: hours|null, sender?: ${senders.join('|')}}`,
    (request) => {
      deliverer.failing.setFrom(new Fields(request.body));
      return { status: 200, body: deliverer.failing.show() };
    },
  );
  kernel.control('DELETE', '/_sandbox/deliveries', 'forget the delivery log', () => {
    deliverer.clear();
    return { status: 200, body: { data: [] } };
  });
}
