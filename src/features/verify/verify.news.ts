// The notification about differences that no review item asks about.
import { type News } from '../../core/health/news.js';
import { type VerifyRepository } from './verify.repository.js';
import { unnotifiedByKind, unnotifiedOf, type VerifyRun } from './rules/run.js';

/** Reads the notification about the newest run. Reads a run once: it may have thousands of differences. */
export function newsFrom(books: Pick<VerifyRepository, 'last' | 'lastId'>): () => Promise<News | null> {
  let read: { readonly id: string | null; readonly news: News | null } = { id: null, news: null };
  return async () => {
    const id = await books.lastId();
    if (id !== read.id) read = { id, news: newsOf(await books.last()) };
    return read.news;
  };
}

/** The notification about the newest run. Null: it needs none. */
export function newsOf(run: VerifyRun | null): News | null {
  if (run === null || run.outcome !== 'differences' || run.finishedAt === null || unnotifiedOf(run) === 0) return null;
  const counts = Object.entries(unnotifiedByKind(run)).filter(([, n]) => n > 0);
  const data = {
    run_id: run.id,
    differences: unnotifiedOf(run),
    by_kind: Object.fromEntries(counts),
    console: '/console/verify',
  };
  return { notified: { type: 'verify.differences', subject: run.id, data }, since: run.finishedAt };
}
