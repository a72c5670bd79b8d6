// The audit log: who did what, when, and with which result.

/**
 * Records the actor, the act, the time, the address and the result, also of a refused try. Crossbill never changes or
 * deletes an entry.
 */
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
