// Links to the MoR's files: signed, short-lived, new at every call. A file takes some time to appear.
import { type Reply } from '../kernel/http.js';
import { type Kernel } from '../kernel/kernel.js';
import { derivedSecret } from '../kernel/random.js';
import { type MorState } from './state.js';

export const MINUTE_MS = 60_000;
/** Milliseconds the MoR takes to issue a document: "normally seconds" (Document 2, States). */
export const ISSUANCE_MS = 2000;
export const DOCUMENT_LINK_MS = 15 * MINUTE_MS;
const TRANSACTION_LINK_MS = 60 * MINUTE_MS;

export type FileLink = { readonly fileName: string; readonly url: string; readonly expiresAt: string };

/** Replies 202 with the seconds to wait: the document is not ready. */
export function stillMaking(): Reply {
  return { status: 202, headers: { 'retry-after': '2' }, body: {} };
}

export class InvoiceFiles {
  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
  ) {}

  /** Signs a link, valid for `lifeMs` of virtual time. */
  link(fileName: string, lifeMs: number): FileLink {
    const expiresAtMs = this.kernel.clock.nowMs() + lifeMs;
    const expires = Math.floor(expiresAtMs / 1000);
    const url = `${this.mor.baseUrl}/files/${fileName}?expires=${expires}&signature=${this.sign(fileName, expires)}`;
    return { fileName, url, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /**
   * The invoice of a payment or refund made at `sinceMs`: 202 for two seconds, then a link valid for 15 minutes. `date`
   * has the virtual time, because a caller may date the money by it. Other replies have the machine's time, like the
   * signatures of webhooks.
   */
  paymentInvoice(name: string, sinceMs: number): Reply {
    const nowMs = this.kernel.clock.nowMs();
    if (nowMs < sinceMs + ISSUANCE_MS) return stillMaking();
    const body = { invoice: this.link(`${name}.pdf`, DOCUMENT_LINK_MS) };
    return { status: 200, headers: { date: new Date(nowMs).toUTCString() }, body };
  }

  /** The consumer invoice of a tax transaction. Its link is valid for an hour. */
  transactionInvoice(transactionId: string, sinceMs: number): Reply {
    if (this.kernel.clock.nowMs() < sinceMs + ISSUANCE_MS) return stillMaking();
    const { fileName, url } = this.link(`invoice-${transactionId}.pdf`, TRANSACTION_LINK_MS);
    return { status: 200, body: { b2cInvoice: { fileName, url } } };
  }

  /** True if the sandbox signed the link and it has not expired. */
  admits(fileName: string, query: URLSearchParams): boolean {
    const expires = Number(query.get('expires'));
    if (query.get('signature') !== this.sign(fileName, expires)) return false;
    return this.kernel.clock.nowMs() < expires * 1000;
  }

  private sign(fileName: string, expires: number): string {
    return derivedSecret(this.kernel.seed, `file:${fileName}:${expires}`);
  }
}

/** Serves the links. The sandbox has no real documents, so the reply to a valid link has only the file's name. */
export function addFiles(kernel: Kernel, files: InvoiceFiles): void {
  kernel.mor.add('GET', '/files/:fileName', ({ params, query }) => {
    const fileName = params['fileName'] ?? '';
    if (!files.admits(fileName, query)) return { status: 403, body: { code: 'link_expired', errors: [] } };
    return { status: 200, body: { fileName, note: 'The sandbox keeps no real documents.' } };
  });
}
