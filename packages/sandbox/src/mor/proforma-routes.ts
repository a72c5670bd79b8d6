// The routes of proforma invoices (Document 2), and the control routes for them.
import { type Reply } from '../kernel/http.js';
import { Fields as ControlFields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { DOCUMENT_LINK_MS, type InvoiceFiles, stillMaking } from './invoice-files.js';
import { merchantRoutes, uuidParam } from './merchant-routes.js';
import { type Proforma, type Proformas, showProforma } from './proforma-invoices.js';
import { refuse } from './refusal.js';
import { type MorState } from './state.js';

function documentOf(proforma: Proforma, files: InvoiceFiles): Reply {
  if (proforma.status === 'PENDING_TAX_TRANSACTION') return stillMaking();
  if (proforma.status === 'ISSUANCE_FAILED') {
    throw refuse(409, 'issuance_failed', 'status', 'issuance failed: there will be no document');
  }
  return { status: 200, body: files.link(`${proforma.number}.pdf`, DOCUMENT_LINK_MS) };
}

export function addProformas(kernel: Kernel, mor: MorState, proformas: Proformas, files: InvoiceFiles): void {
  const route = merchantRoutes(kernel, mor);
  const path = '/api/proforma-invoices';
  route('POST', path, ({ account, request, body }) =>
    proformas.once(account, request.idempotencyKey, path, body, () => proformas.createDirect(account, body)),
  );
  const fromCalculation = `${path}/from-tax-calculation`;
  route('POST', fromCalculation, ({ account, request, body }) =>
    proformas.once(account, request.idempotencyKey, fromCalculation, body, () =>
      proformas.createFromCalculation(account, body),
    ),
  );
  route('GET', `${path}/:id`, ({ account, request }) => ({
    status: 200,
    body: showProforma(proformas.find(account, uuidParam(request, 'id'))),
  }));
  route('GET', `${path}/:id/document`, ({ account, request }) =>
    documentOf(proformas.find(account, uuidParam(request, 'id')), files),
  );
  route('DELETE', `${path}/:id`, ({ account, request }) => {
    proformas.remove(proformas.find(account, uuidParam(request, 'id'), true));
    return { status: 204 };
  });

  kernel.control('GET', '/_sandbox/proformas', 'every proforma invoice', () => ({
    status: 200,
    body: { data: proformas.list().map(showProforma) },
  }));
  kernel.control('POST', '/_sandbox/proformas/:id/settle', 'a bank transfer arrives: {amount?}', (request) => {
    const amount = new ControlFields(request.body).optionalString('amount');
    return { status: 200, body: showProforma(proformas.settle(request.params['id'] ?? '', amount)) };
  });
  kernel.control('POST', '/_sandbox/proformas/:id/fail', 'issuance fails for good: {message?}', (request) => {
    const message = new ControlFields(request.body).optionalString('message');
    return { status: 200, body: showProforma(proformas.fail(request.params['id'] ?? '', message)) };
  });
}
