// A row of the audit trail in the API's form.
import { CountOrNull, Example, OpenOrNull, Text, TextIfAny, TextOrNull, Time } from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';
import { type AuditRow } from './audit.entity.js';

export class AuditView {
  @Example('1234') @Text() id!: string;
  @Time() at!: string;
  @Example('backend') @Text("An API key's name, an e-mail address, `cli:<user>`, or `unknown`.") actor!: string;
  @Example('ops') @TextOrNull("The key's role.") role!: string | null;
  @Example('refund.create') @Text('For example `refund.create`.') action!: string;
  @TextIfAny('The id of its object.') target?: string | undefined;
  @Example('10.0.0.5') @Text("The caller's network address.") source!: string;
  @Example('done')
  @Text('`begun` (before an operator’s change), then `done`, `refused` or `failed`; `denied`: wrong key or role.')
  outcome!: string;
  @CountOrNull('The HTTP status of its answer; null: no answer yet.')
  status!: number | null;
  @OpenOrNull('The code of a refusal, or the id of a new object.') detail!: Readonly<Record<string, unknown>> | null;
}

export function auditView(audit: AuditRow): AuditView {
  return {
    id: audit.id,
    at: timeOf(audit.at),
    actor: audit.actor,
    role: audit.role,
    action: audit.action,
    target: audit.target ?? undefined,
    source: audit.source,
    outcome: audit.outcome,
    status: audit.status === 0 ? null : audit.status,
    detail: audit.detail,
  };
}
