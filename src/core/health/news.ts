// Notifications to the merchant's backend that no lane makes. Each feature adds its own.
import { Injectable } from '@nestjs/common';
import { type Notice } from '../../shared/domain/notification.js';

/** A notification with the time of its reason. An old reason is no news. */
export type News = { readonly notified: Notice; readonly since: Date };

@Injectable()
export class NewsOfFeatures {
  private readonly parts: (() => Promise<News | null>)[] = [];

  /** Adds a reader of a feature's newest reason. The same reason again makes no second notification. */
  add(part: () => Promise<News | null>): void {
    this.parts.push(part);
  }

  async read(): Promise<readonly News[]> {
    return (await Promise.all(this.parts.map((part) => part()))).flatMap((news) => news ?? []);
  }
}
