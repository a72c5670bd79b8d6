// One of Stripe's lists, newest first, with the parameters `created` and `starting_after`.

export type Listed = { readonly id: string; readonly atSec: number; readonly text: () => string };

const PAGE = 100;

/** Add each object in the order of its time. */
export class Listing {
  private readonly items: Listed[] = [];
  private readonly places = new Map<string, number>();

  get length(): number {
    return this.items.length;
  }

  add(item: Listed): void {
    this.places.set(item.id, this.items.length);
    this.items.push(item);
  }

  page(query: URLSearchParams): string {
    const bound = (...names: readonly string[]): number | null => {
      const given = names.map((name) => query.get(name)).find((value) => value !== null);
      return given === undefined || given === null ? null : Number(given);
    };
    const [since, before] = [bound('created[gte]', 'created_after') ?? 0, bound('created[lt]', 'created_before')];
    const after = this.places.get(query.get('starting_after') ?? '');
    let at = (after ?? this.items.length) - 1;
    const found: string[] = [];
    for (; at >= 0; at--) {
      const item = this.items[at];
      if (item === undefined || item.atSec < since) break;
      if (before !== null && item.atSec >= before) continue;
      if (found.length === PAGE) return listOf(found, true);
      found.push(item.text());
    }
    return listOf(found, false);
  }
}

export function listOf(objects: readonly string[], hasMore = false): string {
  return `{"object":"list","has_more":${hasMore},"data":[${objects.join(',')}]}`;
}
