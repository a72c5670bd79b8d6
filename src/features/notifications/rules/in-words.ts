// A notification in one sentence for people.
import { type Fields } from '../../../shared/domain/notification-fields.js';
import { type DataOf, type NotificationType } from '../../../shared/domain/notification.js';

export type AllNotifications = {
  readonly [T in NotificationType]: {
    readonly summary: string;
    readonly fields: Fields;
    readonly sentence: (data: DataOf<T>) => string;
  };
};

/**
 * The notification in one sentence for people, in the form an incoming webhook of Slack takes.
 * @param consoleUrl the console's address, for a whole link; null: the sentence has the path alone
 */
export function inWords<T extends NotificationType>(
  all: Partial<AllNotifications>,
  notice: { readonly type: T; readonly data: DataOf<T> },
  consoleUrl: string | null,
): string {
  // Slack reads `<…>` as a link or a mention and `&` as an entity ("Formatting text for app surfaces", "Escaping
  // text").
  const data = { ...notice.data, console: `${consoleUrl ?? ''}${notice.data.console}` };
  const sentence = all[notice.type]?.sentence(data) ?? notice.type;
  return sentence.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
