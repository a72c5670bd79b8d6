// The item's dispute or alert.

/** The dispute or alert in the item's subject: `dp_1:lost` is the dispute `dp_1`. */
export function disputeOf(subject: string): { readonly what: 'dispute' | 'alert'; readonly name: string } {
  const [, alert, name = subject] = /^(alert:)?(.*?)(?::(?:revision|lost|decided|won|outcome))?$/s.exec(subject) ?? [];
  return { what: alert === undefined ? 'dispute' : 'alert', name };
}
