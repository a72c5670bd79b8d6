// The audit trail.

/** Author, act, time, place and outcome; refused tries too. Never changed, never deleted. */
export abstract class AuditLog {
  abstract write(entry: {
    readonly actor: string;
    readonly role: string | null;
    readonly action: string;
    readonly target: string | null;
    readonly source: string;
    readonly outcome: string;
    readonly status: number;
    readonly detail: Readonly<Record<string, unknown>> | null;
  }): Promise<void>;
}
