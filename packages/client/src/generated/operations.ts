// Made from the OpenAPI document by `npm run client`; do not edit it by hand.
import { type CallOptions, type Pages, type Route, type Schemas } from '../types.js';

/** Every code that this version of the API names; the MoR may answer others. */
export type KnownCode =
  | 'amount_differs_from_invoice'
  | 'amount_out_of_range'
  | 'billing_unavailable'
  | 'charge_already_used'
  | 'connection_failed'
  | 'credit_not_available'
  | 'customer_differs'
  | 'customer_linked_otherwise'
  | 'customer_not_enrolled'
  | 'despite_dispute'
  | 'event_not_parked'
  | 'event_not_retryable'
  | 'forbidden'
  | 'idempotency_conflict'
  | 'incomplete_application'
  | 'integration_credentials_invalid'
  | 'integration_not_configured'
  | 'invalid_argument'
  | 'invalid_request'
  | 'invalid_state'
  | 'invalid_status'
  | 'invalid_url'
  | 'invoice_changed'
  | 'invoice_not_payable'
  | 'invoice_not_retryable'
  | 'issuance_failed'
  | 'log_unreadable'
  | 'missing_classification_text'
  | 'missing_country_of_origin'
  | 'mor_unauthorized'
  | 'mor_unavailable'
  | 'newer_format'
  | 'nfse_validation_failed'
  | 'no_active_arrangement'
  | 'no_payment_destination'
  | 'not_deletable'
  | 'not_found'
  | 'note_required'
  | 'onboarding_begun'
  | 'onboarding_not_configured'
  | 'payment_already_identified'
  | 'payment_already_returned'
  | 'payment_disputed'
  | 'payment_id_taken'
  | 'payment_method_missing'
  | 'payment_not_found'
  | 'payment_not_identified'
  | 'payment_not_refundable'
  | 'payment_not_returnable'
  | 'payment_not_returned'
  | 'physical_goods_not_supported'
  | 'rate_limited'
  | 'refund_answered'
  | 'refund_being_sent'
  | 'refund_under_way'
  | 'region_not_activated'
  | 'region_not_supported'
  | 'request_erased'
  | 'resolution_not_available'
  | 'review_already_resolved'
  | 'setup_intent_id'
  | 'shadow_mode'
  | 'shipping_address_required'
  | 'signup_already_completed'
  | 'signup_has_no_payment'
  | 'signup_not_ready'
  | 'tax_calculation_expired'
  | 'tax_calculation_not_found'
  | 'timeout'
  | 'unauthorized'
  | 'unknown_event'
  | 'unreadable_answer'
  | 'unsupported_currency'
  | 'unsupported_jurisdiction'
  | 'unsupported_media_type'
  | 'unsupported_outpost_role'
  | 'validation_error'
  | 'webhook_endpoint_limit_exceeded';

/** What Crossbill tells your backend: by `type`, TypeScript knows `data`. */
export type Notification =
  | Schemas['InvoicePaidNotification']
  | Schemas['InvoiceLeftOpenNotification']
  | Schemas['InvoiceActionRequiredNotification']
  | Schemas['RefundSucceededNotification']
  | Schemas['RefundFailedNotification']
  | Schemas['SignupCompletedNotification']
  | Schemas['ReviewOpenedNotification']
  | Schemas['ReviewDueSoonNotification']
  | Schemas['WebhooksRefusingNotification']
  | Schemas['DisputeOpenedNotification']
  | Schemas['DisputeClosedNotification']
  | Schemas['DebitReturnedNotification']
  | Schemas['PaymentLinkCreatedNotification']
  | Schemas['VerifyDifferencesNotification']
  | Schemas['CustomerMethodNeededNotification'];

/** Method and path; what is sent; whether it may be sent again; the fields of a list. */
export const ROUTES: Readonly<Record<keyof Operations, Route>> = {
  createSignup: ['POST', '/v1/signups', 'body', 'key'],
  getSignup: ['GET', '/v1/signups/{id}', 'nothing', 'safe'],
  completeSignup: ['POST', '/v1/signups/{id}/complete', 'body', 'safe'],
  listCustomers: ['GET', '/v1/customers', 'query', 'safe', 'data', 'next_cursor'],
  linkCustomer: ['POST', '/v1/customers', 'body', 'key'],
  getCustomer: ['GET', '/v1/customers/{id}', 'nothing', 'safe'],
  createPaymentMethod: ['POST', '/v1/customers/{id}/payment-method', 'body', 'key'],
  confirmPaymentMethod: ['POST', '/v1/customers/{id}/payment-method/confirmed', 'body', 'safe'],
  listInvoices: ['GET', '/v1/invoices', 'query', 'safe', 'data', 'next_cursor'],
  getInvoice: ['GET', '/v1/invoices/{id}', 'nothing', 'safe'],
  listPayments: ['GET', '/v1/payments', 'query', 'safe', 'data', 'next_cursor'],
  getPayment: ['GET', '/v1/payments/{id}', 'nothing', 'safe'],
  identifyPayment: ['POST', '/v1/payments/{id}/identify', 'body', 'never'],
  createRefund: ['POST', '/v1/payments/{id}/refunds', 'body', 'key'],
  listRefunds: ['GET', '/v1/refunds', 'query', 'safe', 'data', 'next_cursor'],
  getRefund: ['GET', '/v1/refunds/{id}', 'nothing', 'safe'],
  listEvents: ['GET', '/v1/events', 'query', 'safe', 'data', 'next_cursor'],
  getEvent: ['GET', '/v1/events/{id}', 'nothing', 'safe'],
  retryEvent: ['POST', '/v1/events/{id}/retry', 'nothing', 'never'],
  dismissEvent: ['POST', '/v1/events/{id}/dismiss', 'body', 'never'],
  listReviews: ['GET', '/v1/reviews', 'query', 'safe', 'data', 'next_cursor'],
  getReview: ['GET', '/v1/reviews/{id}', 'nothing', 'safe'],
  resolveReview: ['POST', '/v1/reviews/{id}/resolve', 'body', 'never'],
  listLedgerEntries: ['GET', '/v1/ledger', 'query', 'safe', 'data', 'next_cursor'],
  getTrialBalance: ['GET', '/v1/ledger/trial-balance', 'query', 'safe'],
  listAuditEntries: ['GET', '/v1/audit', 'query', 'safe', 'data', 'next_cursor'],
  getLiveness: ['GET', '/livez', 'nothing', 'safe'],
  getReadiness: ['GET', '/readyz', 'nothing', 'safe'],
  getMetrics: ['GET', '/metrics', 'nothing', 'safe'],
  getAbout: ['GET', '/v1/about', 'nothing', 'safe'],
  listMorWebhooks: ['GET', '/v1/mor/webhooks', 'nothing', 'safe'],
  createMorWebhook: ['POST', '/v1/mor/webhooks', 'body', 'never'],
  deleteMorWebhook: ['DELETE', '/v1/mor/webhooks/{id}', 'nothing', 'safe'],
  getReturn: ['GET', '/v1/payments/{id}/returned', 'nothing', 'safe'],
  recordReturn: ['POST', '/v1/payments/{id}/returned', 'body', 'key'],
  undoReturn: ['POST', '/v1/payments/{id}/returned/undo', 'body', 'key'],
  getPaymentLink: ['GET', '/v1/invoices/{id}/payment-link', 'nothing', 'safe'],
  createPaymentLink: ['POST', '/v1/invoices/{id}/payment-link', 'body', 'key'],
  listMoves: ['GET', '/v1/moves', 'query', 'safe', 'data', 'next_cursor'],
  getProforma: ['GET', '/v1/invoices/{id}/proforma', 'nothing', 'safe'],
  createProforma: ['POST', '/v1/invoices/{id}/proforma', 'body', 'key'],
  deleteProforma: ['DELETE', '/v1/invoices/{id}/proforma', 'nothing', 'safe'],
  getProformaDocument: ['GET', '/v1/invoices/{id}/proforma/document', 'nothing', 'safe'],
  listDifferences: ['GET', '/v1/verify/differences', 'query', 'safe', 'data', 'next_cursor'],
  acknowledgeDifference: ['POST', '/v1/verify/differences/{id}/acknowledge', 'body', 'never'],
  listNotifications: ['GET', '/v1/notifications', 'query', 'safe', 'data', 'next_cursor'],
  getNotification: ['GET', '/v1/notifications/{id}', 'nothing', 'safe'],
  replayNotification: ['POST', '/v1/notifications/{id}/replay', 'nothing', 'never'],
  calculateTax: ['POST', '/v1/tax/calculations', 'body', 'safe'],
  listTaxTransactions: ['GET', '/v1/tax/transactions', 'query', 'safe', 'transactions', 'nextCursor'],
  createTaxTransaction: ['POST', '/v1/tax/transactions', 'body', 'safe'],
  getTaxTransaction: ['GET', '/v1/tax/transactions/{id}', 'nothing', 'safe'],
  listTaxRefunds: ['GET', '/v1/tax/transactions/{id}/refunds', 'nothing', 'safe'],
  createTaxRefund: ['POST', '/v1/tax/transactions/{id}/refunds', 'body', 'safe'],
  getTaxInvoice: ['GET', '/v1/tax/transactions/{id}/invoice', 'nothing', 'safe'],
  importProduct: ['POST', '/v1/catalogue/products', 'body', 'safe'],
  listRegions: ['GET', '/v1/onboarding/regions', 'nothing', 'safe'],
  listMerchants: ['GET', '/v1/onboarding/merchants', 'query', 'safe', 'data', 'next_cursor'],
  createMerchant: ['POST', '/v1/onboarding/merchants', 'body', 'safe'],
  getMerchant: ['GET', '/v1/onboarding/merchants/{reference}', 'nothing', 'safe'],
  chooseMerchantProduct: ['PUT', '/v1/onboarding/merchants/{reference}/product', 'body', 'safe'],
  describeMerchant: ['PATCH', '/v1/onboarding/merchants/{reference}/business', 'body', 'safe'],
  submitMerchant: ['POST', '/v1/onboarding/merchants/{reference}/submit', 'nothing', 'safe'],
  retryInvoice: ['POST', '/v1/invoices/{id}/retry', 'nothing', 'key'],
  getPaymentDocument: ['GET', '/v1/payments/{id}/document', 'nothing', 'safe'],
  getRefundDocument: ['GET', '/v1/refunds/{id}/document', 'nothing', 'safe'],
  getEInvoice: ['GET', '/v1/e-invoices/{id}', 'nothing', 'safe'],
};

/** One method for each operation of the API. */
export interface Operations {
  /** Make a signup (role: signup). */
  createSignup(body: Schemas['CreateSignupDto'], options?: CallOptions): Promise<Schemas['SignupMadeView']>;
  /** A signup, without its client secret (role: read). */
  getSignup(id: string, options?: CallOptions): Promise<Schemas['SignupView']>;
  /** Name the charge of the browser's result (role: signup). */
  completeSignup(id: string, body: Schemas['CompleteSignupDto'], options?: CallOptions): Promise<Schemas['CompletedSignupView']>;
  /** Customers with their customers at the MoR, the newest links first (role: read). */
  listCustomers(query?: Schemas['ListCustomersQuery'], options?: CallOptions): Pages<Schemas['PageOfCustomerLinkView'], 'data'>;
  /** Link a customer to an existing customer of the MoR (role: ops). */
  linkCustomer(body: Schemas['LinkCustomerDto'], options?: CallOptions): Promise<Schemas['CustomerLinkView']>;
  /** A customer by the merchant's own id (role: read). */
  getCustomer(id: string, options?: CallOptions): Promise<Schemas['CustomerView']>;
  /** Make a setup intent for another card or account (role: signup). */
  createPaymentMethod(id: string, body?: Schemas['CreatePaymentMethodDto'], options?: CallOptions): Promise<Schemas['PaymentMethodMadeView']>;
  /** Report that the customer's browser confirmed a setup (role: signup). */
  confirmPaymentMethod(id: string, body?: Schemas['ConfirmPaymentMethodDto'], options?: CallOptions): Promise<Schemas['ConfirmedMethodView']>;
  /** Invoices, newest first, without their timelines (role: read). */
  listInvoices(query?: Schemas['ListInvoicesQuery'], options?: CallOptions): Pages<Schemas['PageOfInvoiceListView'], 'data'>;
  /** An invoice with its differences, payments, attempts, refunds, reviews and timeline (role: read). */
  getInvoice(id: string, options?: CallOptions): Promise<Schemas['InvoiceView']>;
  /** Payments, newest first (role: read). */
  listPayments(query?: Schemas['ListPaymentsQuery'], options?: CallOptions): Pages<Schemas['PageOfPaymentView'], 'data'>;
  /** A payment with its refunds, by `pay_…` or our own id (role: read). */
  getPayment(id: string, options?: CallOptions): Promise<Schemas['PaymentView']>;
  /** Give a payment the MoR's own id, so you can refund it (role: ops). */
  identifyPayment(id: string, body: Schemas['IdentifyPaymentDto'], options?: CallOptions): Promise<Schemas['PaymentView']>;
  /** Refund a payment, fully or in part (role: ops). */
  createRefund(id: string, body?: Schemas['CreateRefundDto'], options?: CallOptions): Promise<Schemas['RefundView']>;
  /** Refunds, newest first (role: read). */
  listRefunds(query?: Schemas['ListRefundsQuery'], options?: CallOptions): Pages<Schemas['PageOfRefundView'], 'data'>;
  /** A refund, by our id or the MoR's `rfnd_…` (role: read). */
  getRefund(id: string, options?: CallOptions): Promise<Schemas['RefundView']>;
  /** Webhook events, newest first (role: read). */
  listEvents(query?: Schemas['ListEventsQuery'], options?: CallOptions): Pages<Schemas['PageOfEventView'], 'data'>;
  /** An event with its body, personal data masked (role: read). */
  getEvent(id: string, options?: CallOptions): Promise<Schemas['EventWithBodyView']>;
  /** Decide an event again (role: ops). */
  retryEvent(id: string, options?: CallOptions): Promise<Schemas['EventView']>;
  /** Dismiss a parked event (role: ops). */
  dismissEvent(id: string, body: Schemas['DismissEventDto'], options?: CallOptions): Promise<Schemas['EventView']>;
  /** Review items, newest first or by deadline (role: read). */
  listReviews(query?: Schemas['ListReviewsQuery'], options?: CallOptions): Pages<Schemas['PageOfReviewView'], 'data'>;
  /** A review item (role: read). */
  getReview(id: string, options?: CallOptions): Promise<Schemas['ReviewView']>;
  /** Resolve a review item (role: ops). */
  resolveReview(id: string, body: Schemas['ResolveReviewDto'], options?: CallOptions): Promise<Schemas['ReviewView']>;
  /** Ledger entries, newest first (role: read). */
  listLedgerEntries(query?: Schemas['ListLedgerEntriesQuery'], options?: CallOptions): Pages<Schemas['PageOfLedgerEntryView'], 'data'>;
  /** The trial balance of a month, for each currency (role: read). */
  getTrialBalance(query: Schemas['GetTrialBalanceQuery'], options?: CallOptions): Promise<Schemas['TrialBalanceView']>;
  /** The audit trail, newest first (role: ops). */
  listAuditEntries(query?: Schemas['ListAuditEntriesQuery'], options?: CallOptions): Pages<Schemas['PageOfAuditView'], 'data'>;
  /** The process answers. */
  getLiveness(options?: CallOptions): Promise<Schemas['HealthView']>;
  /** Ready for traffic. */
  getReadiness(options?: CallOptions): Promise<Schemas['HealthView']>;
  /** Metrics for Prometheus. */
  getMetrics(options?: CallOptions): Promise<string>;
  /** This daemon: release, Stripe account, mode (role: read). */
  getAbout(options?: CallOptions): Promise<Schemas['AboutView']>;
  /** The registered addresses, without secrets (role: ops). */
  listMorWebhooks(options?: CallOptions): Promise<Schemas['EndpointsView']>;
  /** Register an address for the MoR’s events (role: ops). */
  createMorWebhook(body: Schemas['WebhookEndpointRequest'], options?: CallOptions): Promise<Schemas['EndpointMadeView']>;
  /** End deliveries to an address at once (role: ops). */
  deleteMorWebhook(id: string, options?: CallOptions): Promise<undefined>;
  /** The newest return of a payment (role: read). */
  getReturn(id: string, options?: CallOptions): Promise<Schemas['ReturnView']>;
  /** Record that a bank returned the debit of a payment (role: ops). */
  recordReturn(id: string, body?: Schemas['RecordReturnDto'], options?: CallOptions): Promise<Schemas['ReturnView']>;
  /** Undo the record of a returned debit (role: ops). */
  undoReturn(id: string, body?: Schemas['UndoReturnDto'], options?: CallOptions): Promise<Schemas['ReturnView']>;
  /** The payment link of an invoice, as the MoR has it now (role: ops). */
  getPaymentLink(id: string, options?: CallOptions): Promise<Schemas['PaymentLinkView']>;
  /** Make a payment link for the amount due on an invoice (role: ops). */
  createPaymentLink(id: string, body: Schemas['CreatePaymentLinkDto'], options?: CallOptions): Promise<Schemas['PaymentLinkView']>;
  /** Subscriptions that `crossbill move` looked at, the newest rows first (role: read). */
  listMoves(query?: Schemas['ListMovesQuery'], options?: CallOptions): Pages<Schemas['PageOfMoveView'], 'data'>;
  /** The proforma invoice of an invoice, as the MoR has it now (role: ops). */
  getProforma(id: string, options?: CallOptions): Promise<Schemas['ProformaView']>;
  /** Issue a proforma invoice for an invoice (role: ops). */
  createProforma(id: string, body: Schemas['CreateProformaDto'], options?: CallOptions): Promise<Schemas['ProformaView']>;
  /** Delete a proforma invoice that is not issued yet (role: ops). */
  deleteProforma(id: string, options?: CallOptions): Promise<undefined>;
  /** A fresh link to the proforma invoice as a file. */
  getProformaDocument(id: string, options?: CallOptions): Promise<Schemas['FileLinkView'] | Schemas['PendingView']>;
  /** What the newest verify run found (role: read). */
  listDifferences(query?: Schemas['ListDifferencesQuery'], options?: CallOptions): Pages<Schemas['PageOfDifferenceView'], 'data'>;
  /** Acknowledge a difference (role: ops). */
  acknowledgeDifference(id: string, body: Schemas['AcknowledgeDto'], options?: CallOptions): Promise<Schemas['DifferenceView']>;
  /** Notifications to your backend, newest first (role: read). */
  listNotifications(query?: Schemas['ListNotificationsQuery'], options?: CallOptions): Pages<Schemas['PageOfNotificationView'], 'data'>;
  /** A notification with its body and its tries (role: read). */
  getNotification(id: string, options?: CallOptions): Promise<Schemas['NotificationWithTriesView']>;
  /** Send a notification once more (role: ops). */
  replayNotification(id: string, options?: CallOptions): Promise<Schemas['NotificationView']>;
  /** Calculate tax (role: signup). */
  calculateTax(body: Schemas['TaxCalculationRequest'], options?: CallOptions): Promise<Schemas['TaxCalculationView']>;
  /** Tax transactions, newest first (role: signup). */
  listTaxTransactions(query?: Schemas['ListTaxTransactionsQuery'], options?: CallOptions): Pages<Schemas['TaxTransactionsView'], 'transactions'>;
  /** Commit a calculation after its payment succeeded (role: signup). */
  createTaxTransaction(body: Schemas['TaxTransactionRequest'], options?: CallOptions): Promise<Schemas['TaxTransactionView']>;
  /** A tax transaction (role: signup). */
  getTaxTransaction(id: string, options?: CallOptions): Promise<Schemas['TaxTransactionView']>;
  /** Refunds on a tax transaction (role: signup). */
  listTaxRefunds(id: string, options?: CallOptions): Promise<Schemas['TaxRefundView'][]>;
  /** Make a tax refund for lines of a tax transaction (role: signup). */
  createTaxRefund(id: string, body: Schemas['TaxRefundRequest'], options?: CallOptions): Promise<Schemas['TaxRefundView']>;
  /** A link to the tax invoice, valid for an hour (role: signup). */
  getTaxInvoice(id: string, options?: CallOptions): Promise<Schemas['TaxInvoiceView'] | Schemas['PendingView']>;
  /** Import one product variant (role: signup). */
  importProduct(body: Schemas['CatalogueProductRequest'], options?: CallOptions): Promise<Record<string, unknown>>;
  /** Regions and the products they support (role: ops). */
  listRegions(options?: CallOptions): Promise<Schemas['RegionsView']>;
  /** Merchants as last read, newest first (role: ops). */
  listMerchants(query?: Schemas['ListMerchantsQuery'], options?: CallOptions): Pages<Schemas['PageOfOnboardingView'], 'data'>;
  /** Begin a merchant’s application (role: ops). */
  createMerchant(body: Schemas['InitiateRequest'] | Schemas['BareMerchantRequest'], options?: CallOptions): Promise<Schemas['OnboardingView']>;
  /** A merchant with its company and description. */
  getMerchant(reference: string, options?: CallOptions): Promise<Schemas['OnboardingView']>;
  /** Choose the regions: `{code, regions}` (role: ops). */
  chooseMerchantProduct(reference: string, body: Schemas['ProductChoice'], options?: CallOptions): Promise<Schemas['OnboardingView']>;
  /** Describe the business: `businessDescription`, `storeUrls`, `category` (role: ops). */
  describeMerchant(reference: string, body?: Schemas['DescribeBusinessRequest'], options?: CallOptions): Promise<Schemas['OnboardingView']>;
  /** Submit for review (role: ops). */
  submitMerchant(reference: string, options?: CallOptions): Promise<Schemas['OnboardingView']>;
  /** Try a failed or overdue renewal again now (role: ops). */
  retryInvoice(id: string, options?: CallOptions): Promise<Schemas['InvoiceView']>;
  /** A fresh link to a payment's invoice file (role: read). */
  getPaymentDocument(id: string, options?: CallOptions): Promise<Schemas['FileLinkView'] | Schemas['PendingView']>;
  /** A fresh link to a refund's invoice file (role: read). */
  getRefundDocument(id: string, options?: CallOptions): Promise<Schemas['FileLinkView'] | Schemas['PendingView']>;
  /** An e-invoice with fresh links (role: read). */
  getEInvoice(id: string, options?: CallOptions): Promise<Schemas['EInvoiceView']>;
}
