// How a test's receiver wants its notifications.
import { type NotifyAs } from '../../../src/shared/domain/notification.js';

export const STANDARD: NotifyAs = { notifyFormat: 'standard', consoleUrl: null };
export const SLACK: NotifyAs = { notifyFormat: 'slack', consoleUrl: null };
