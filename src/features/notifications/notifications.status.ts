// What `crossbill status` says of the notifications to the merchant's backend.
import { type StatusPart } from '../../frames/cli/slots.js';
import { time } from '../../frames/cli/table.js';
import { Notifications } from '../../frames/store/notifications.js';

export const status: StatusPart = async (app) => {
  if (app.config.notifyUrl === null) return { json: { notifications: null }, text: '' };
  const notifications = await app.get(Notifications).status();
  const { pending, dead, goneAt } = notifications;
  const gone =
    goneAt === null
      ? ''
      : `  The receiver answered 410 at ${time(goneAt)}: Crossbill sends nothing. Set another NOTIFY_URL, or run \`crossbill trigger invoice.paid\` once the receiver is back.\n`;
  const text = `\nNotifications\n  ${pending} wait for delivery, Crossbill gave up on ${dead}\n${gone}`;
  return { json: { notifications }, text };
};
