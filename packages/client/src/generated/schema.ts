// Made from the OpenAPI document by `npm run client`; do not edit it by hand.
export interface components {
    schemas: {
        SignupCustomerDto: {
            /** The merchant's own id of the customer. */
            id: string;
            email?: string | null;
            name?: string | null;
            /** ISO 3166-1 alpha-2. */
            country?: string | null;
            /** `line1`, `city`, `postal_code` and similar. */
            address?: {
                [key: string]: string | null;
            } | null;
        };
        CreateSignupDto: {
            kind: "payment" | "trial";
            customer: components["schemas"]["SignupCustomerDto"];
            /** The first invoice on Stripe, for `payment` only. */
            invoice_id?: string;
            /** Smallest units, with tax. */
            amount?: number;
            /** ISO 4217. */
            currency?: string;
            /** Goes to the MoR with a `payment`. */
            description?: string;
            /** For `trial` only. */
            payment_method_types?: string[];
            /** Binds a tax calculation of the MoR to this signup. */
            tax_calculation_id?: string;
            /** A tax calculation request of the MoR’s API. */
            tax?: components["schemas"]["TaxCalculationRequest"];
        };
        SignupMadeView: {
            id: string;
            kind: "payment" | "trial";
            status: string;
            payment_intent_id?: string;
            setup_intent_id?: string;
            mor_customer_id: string | null;
            tax_calculation_id?: string;
            amount_total: number | null;
            client_secret: string;
        };
        FieldProblem: {
            field: string;
            message: string;
        };
        ProblemView: {
            code: string;
            message: string;
            errors: components["schemas"]["FieldProblem"][];
        };
        ProofView: {
            status: "asking" | "waiting_for_settlement";
            since: string;
            next_look_at: string | null;
        };
        SignupView: {
            id: string;
            kind: "payment" | "trial";
            status: string;
            payment_intent_id?: string;
            setup_intent_id?: string;
            mor_customer_id: string | null;
            tax_calculation_id?: string;
            customer_id: string;
            amount: number | null;
            currency: string | null;
            invoice_id?: string;
            charge_id?: string;
            payment_id?: string;
            mark?: string;
            proof?: components["schemas"]["ProofView"];
            created_at: string;
            completed_at: string | null;
        };
        CompleteSignupDto: {
            /** The charge id of the browser's result. */
            charge_id: string;
            /** The first invoice: this charge pays it. */
            invoice_id: string;
            payment_id?: string;
            /** What was charged, in smallest units. */
            amount: number;
            /** ISO 4217. */
            currency: string;
        };
        RefundView: {
            id: string;
            mor_refund_id: string | null;
            payment_id: string;
            invoice_id: string;
            invoice_number: string | null;
            customer_id: string | null;
            amount: number;
            currency: string;
            status: string;
            reason: string | null;
            processor_refund_id: string | null;
            origin: "api" | "event";
            mirror?: string;
            credit_note_id: string | null;
            failure_code?: string;
            failure_message?: string;
            created_at: string;
            succeeded_at: string | null;
        };
        PaymentView: {
            id: string;
            invoice_id: string;
            invoice_number: string | null;
            customer_id: string;
            mor_customer_id: string | null;
            amount: number | null;
            currency: string;
            status: "processing" | "succeeded" | "failed" | "requires_action" | "partially_refunded" | "refunded";
            processor_charge_id: string | null;
            processor_payment_intent_id: string | null;
            reference: string | null;
            amount_refunded: number;
            payment_record_id: string | null;
            refunds: components["schemas"]["RefundView"][];
            proof?: components["schemas"]["ProofView"];
            mark: string;
            origin: "renewal" | "signup" | "proforma" | "payment_link";
            signup_id?: string;
            failure_message?: string;
            decline_code?: string;
            succeeded_at: string | null;
            created_at: string;
            verdict_at: string | null;
        };
        CompletedSignupView: {
            id: string;
            kind: "payment" | "trial";
            status: string;
            payment_intent_id?: string;
            setup_intent_id?: string;
            mor_customer_id: string | null;
            tax_calculation_id?: string;
            customer_id: string;
            amount: number | null;
            currency: string | null;
            invoice_id?: string;
            charge_id?: string;
            payment_id?: string;
            mark?: string;
            proof?: components["schemas"]["ProofView"];
            created_at: string;
            completed_at: string | null;
            payment: components["schemas"]["PaymentView"];
            missing: components["schemas"]["FieldProblem"][];
        };
        PaymentMethodView: {
            id: string | null;
            setup_intent_id: string | null;
            payment_intent_id: string | null;
            mor_customer_id: string;
            origin: "signup" | "change" | "import";
            current: boolean;
            created_at: string;
            confirmed_at: string | null;
            confirmed_by: string | null;
        };
        CustomerLinkView: {
            customer_id: string;
            mor_customer_id: string;
            current: boolean;
            payment_methods: components["schemas"]["PaymentMethodView"][];
            reference: string | null;
            signup_id: string | null;
            linked_by: string;
            linked_at: string;
        };
        PageOfCustomerLinkView: {
            data: components["schemas"]["CustomerLinkView"][];
            next_cursor?: string;
        };
        LinkCustomerDto: {
            /** Stripe's `cus_…`. */
            customer_id: string;
            /** The MoR's customer. */
            mor_customer_id: string;
            /** Your reference for the link. */
            reference?: string;
        };
        CustomerView: {
            customer_id: string;
            mor_customer_id: string | null;
            mor_customer_ids: string[];
            signups: components["schemas"]["SignupView"][];
            payment_methods: components["schemas"]["PaymentMethodView"][];
            invoice_ids: string[];
        };
        CreatePaymentMethodDto: {
            /** Default: card. */
            payment_method_types?: string[];
            /** Binds a tax calculation of the MoR to the setup intent. */
            tax_calculation_id?: string;
        };
        PaymentMethodMadeView: {
            id: string;
            client_secret: string;
            setup_intent_id: string;
            mor_customer_id: string;
            status: string;
        };
        ConfirmPaymentMethodDto: {
            /** The confirmed setup intent. */
            setup_intent_id?: string;
        };
        AcknowledgedView: {
            note: string;
            by: string;
            at: string;
        };
        DifferenceView: {
            id: string;
            kind: "charged_not_marked" | "marked_not_charged" | "charge_on_two_invoices" | "amount_differs" | "refund_not_mirrored" | "refunded_by_hand" | "credited_by_hand" | "overpaid" | "event_never_delivered" | "no_verdict" | "unreadable";
            invoice_id?: string;
            payment_id?: string;
            refund_id?: string;
            event_id?: string;
            object_id?: string;
            detail: string;
            repair: "look-again" | "take-in-event" | "person";
            review_id?: string;
            acknowledged?: components["schemas"]["AcknowledgedView"];
        };
        AttemptView: {
            event_id: string;
            payment_id: string;
            outcome: "succeeded" | "failed" | "requires_action";
            amount: number;
            currency: string;
            failure_message: string | null;
            decline_code: string | null;
            processor_payment_intent_id: string | null;
            at: string;
        };
        RetryView: {
            number: number;
            at: string;
            after: "soft" | "hard" | "authentication";
            means: "charge" | "link";
            by: string | null;
            payment_method: string | null;
            amount: number;
            ref: string;
            withdrawn: boolean;
        };
        RetriesView: {
            decline_kind: "soft" | "hard" | "authentication";
            decline_code: string | null;
            refused_at: string;
            made: components["schemas"]["RetryView"][];
            waiting_since: string | null;
            ended_at: string | null;
            /** @enum {string|null} */
            end: "nothing" | "uncollectible" | "cancel" | null;
        };
        ReviewView: {
            id: string;
            kind: "amount_mismatch" | "currency_mismatch" | "customer_mismatch" | "invoice_not_payable" | "double_payment" | "conflicting_event" | "refund_gap" | "refund_stuck" | "renewal_overdue" | "signup_overdue" | "signup_unproven" | "finalization_failed" | "partial_transfer" | "effect_failed" | "dispute" | "debit_returned" | "double_charge_risk";
            status: "open" | "resolved";
            invoice_id?: string;
            payment_id?: string;
            refund_id?: string;
            fact: {
                [key: string]: unknown;
            };
            actions: ("apply" | "refund" | "retry" | "credit" | "dismiss")[];
            /** @enum {string|null} */
            proposed: "apply" | "refund" | "retry" | "credit" | "dismiss" | null;
            summary: string;
            proposal: string;
            due_at: string | null;
            created_at: string;
            resolved_at: string | null;
            resolved_by: string | null;
            resolution: string | null;
            note: string | null;
        };
        IssuanceFailureView: {
            code: string | null;
            message: string | null;
            failedAt: string | null;
        };
        ProformaView: {
            id: string;
            status: string;
            number: string | null;
            merchantReference: string | null;
            issuanceFailure?: components["schemas"]["IssuanceFailureView"];
            createdAt: string;
        };
        Decimal: {
            amount: string;
            currency: string;
        };
        PaymentLinkView: {
            id: string;
            paymentLinkId: string;
            status: string;
            url: string | null;
            pricedAmount: components["schemas"]["Decimal"] | null;
            amountDue: components["schemas"]["Decimal"] | null;
            expiresAt: string | null;
            createdAt: string;
        };
        EInvoiceLineView: {
            id: string;
            status: string;
            error?: string;
            created_at: string;
            updated_at: string;
        };
        DisputeView: {
            id: string;
            kind: string;
            status: string;
            payment_id: string | null;
            amount: number | null;
            currency: string | null;
            deadline: string | null;
            dashboard_url: string | null;
            outcome?: string;
            refunded?: boolean;
            reviewer_note?: string;
            created_at: string;
            updated_at?: string;
        };
        TimelineLine: {
            at: string;
            kind: "event" | "decision" | "call" | "person";
            text: string;
            ref?: string;
            detail?: {
                [key: string]: unknown;
            };
        };
        InvoiceView: {
            id: string;
            number: string | null;
            customer_id: string | null;
            mor_customer_id?: string;
            status: "expected" | "open" | "held" | "marking" | "paid" | "ignored" | "void" | "review";
            /** @enum {string|null} */
            ignored_because: "not_enrolled" | "signup" | "nothing_due" | "only_in_review" | null;
            stripe_status: string;
            amount_due: number | null;
            amount_paid: number | null;
            amount_remaining: number | null;
            currency: string | null;
            billing_reason: string | null;
            subscription_id: string | null;
            created_at: string | null;
            expected_by: string | null;
            next_try_at: string | null;
            payments: components["schemas"]["PaymentView"][];
            refunds: components["schemas"]["RefundView"][];
            differences: components["schemas"]["DifferenceView"][];
            attempts: components["schemas"]["AttemptView"][];
            retries: components["schemas"]["RetriesView"] | null;
            reviews: components["schemas"]["ReviewView"][];
            proformas: components["schemas"]["ProformaView"][];
            payment_links: components["schemas"]["PaymentLinkView"][];
            e_invoices: components["schemas"]["EInvoiceLineView"][];
            disputes: components["schemas"]["DisputeView"][];
            timeline: components["schemas"]["TimelineLine"][];
        };
        ConfirmedMethodView: {
            customer_id: string;
            payment_method_id: string;
            reported_at: string;
            data: components["schemas"]["InvoiceView"][];
        };
        InvoiceListView: {
            id: string;
            number: string | null;
            customer_id: string | null;
            mor_customer_id?: string;
            status: "expected" | "open" | "held" | "marking" | "paid" | "ignored" | "void" | "review";
            /** @enum {string|null} */
            ignored_because: "not_enrolled" | "signup" | "nothing_due" | "only_in_review" | null;
            stripe_status: string;
            amount_due: number | null;
            amount_paid: number | null;
            amount_remaining: number | null;
            currency: string | null;
            billing_reason: string | null;
            subscription_id: string | null;
            created_at: string | null;
            expected_by: string | null;
            next_try_at: string | null;
            payments: components["schemas"]["PaymentView"][];
            refunds: components["schemas"]["RefundView"][];
        };
        PageOfInvoiceListView: {
            data: components["schemas"]["InvoiceListView"][];
            next_cursor?: string;
        };
        PageOfPaymentView: {
            data: components["schemas"]["PaymentView"][];
            next_cursor?: string;
        };
        IdentifyPaymentDto: {
            /** The MoR's own id of the payment. */
            payment_id: string;
        };
        CreateRefundDto: {
            /** Smallest units. */
            amount?: number;
            reason?: string;
            /** True: refund although a dispute of the payment is undecided. */
            despite_dispute?: boolean;
            /** Passed on to the MoR. */
            metadata?: {
                [key: string]: unknown;
            };
        };
        PageOfRefundView: {
            data: components["schemas"]["RefundView"][];
            next_cursor?: string;
        };
        EventView: {
            id: string;
            source: "stripe" | "mor_payments" | "mor_events" | "crossbill";
            event_id: string;
            type: string;
            status: "received" | "done" | "ignored" | "parked" | "quarantined";
            reason?: string;
            note?: string;
            attempts: number;
            received_at: string;
            decided_at?: string;
        };
        PageOfEventView: {
            data: components["schemas"]["EventView"][];
            next_cursor?: string;
        };
        EventWithBodyView: {
            id: string;
            source: "stripe" | "mor_payments" | "mor_events" | "crossbill";
            event_id: string;
            type: string;
            status: "received" | "done" | "ignored" | "parked" | "quarantined";
            reason?: string;
            note?: string;
            attempts: number;
            received_at: string;
            decided_at?: string;
            lane: string;
            body: {
                [key: string]: unknown;
            } | null;
            body_note: string | null;
        };
        DismissEventDto: {
            /** Why. */
            note: string;
        };
        PageOfReviewView: {
            data: components["schemas"]["ReviewView"][];
            next_cursor?: string;
        };
        ResolveReviewDto: {
            /**
             * @description One of the item’s `actions`.
             * @enum {string}
             */
            resolution: "apply" | "refund" | "retry" | "credit" | "dismiss";
            /** Why. */
            note?: string;
        };
        LedgerEntryView: {
            id: string;
            debit_account: string;
            credit_account: string;
            amount: number;
            currency: string;
            reason: string;
            customer_id?: string;
            mor_customer_id?: string;
            invoice_id: string;
            invoice_number?: string;
            payment_id: string;
            processor_charge_id?: string;
            payment_record_id?: string;
            refund_id?: string;
            mor_refund_id?: string;
            processor_refund_id?: string;
            credit_note_id?: string;
            event_id?: string;
            moved_at: string;
            recorded_at: string;
        };
        PageOfLedgerEntryView: {
            data: components["schemas"]["LedgerEntryView"][];
            next_cursor?: string;
        };
        MonthVerdictView: {
            state: "agrees" | "differs" | "unfinished" | "not_compared";
            differences: number;
            compared_at: string | null;
            over: boolean;
        };
        TrialAccountView: {
            opening: number;
            debit: number;
            credit: number;
            closing: number;
            account: string;
            clearing: boolean;
        };
        TrialTotalView: {
            opening: number;
            debit: number;
            credit: number;
            closing: number;
        };
        TrialMovementView: {
            reason: string;
            debit_account: string;
            credit_account: string;
            entries: number;
            amount: number;
        };
        TrialCurrencyView: {
            currency: string;
            accounts: components["schemas"]["TrialAccountView"][];
            total: components["schemas"]["TrialTotalView"];
            moved: components["schemas"]["TrialMovementView"][];
        };
        TrialBalanceView: {
            month: string;
            since: string;
            until: string;
            verdict: components["schemas"]["MonthVerdictView"];
            currencies: components["schemas"]["TrialCurrencyView"][];
        };
        AuditView: {
            id: string;
            at: string;
            actor: string;
            role: string | null;
            action: string;
            target?: string;
            source: string;
            outcome: string;
            status: number | null;
            detail: {
                [key: string]: unknown;
            } | null;
        };
        PageOfAuditView: {
            data: components["schemas"]["AuditView"][];
            next_cursor?: string;
        };
        HealthView: {
            status: string;
        };
        SignatureFormView: {
            source: "stripe" | "mor_payments" | "mor_events";
            form: string | null;
            malformed_form: string | null;
        };
        AboutView: {
            version: string;
            stripe_account_id: string | null;
            stripe_mode: "live" | "test" | "unknown";
            mark_mode: "payment_record" | "out_of_band";
            shadow: boolean;
            relay: boolean;
            signatures: components["schemas"]["SignatureFormView"][];
        };
        EndpointMadeView: {
            id: string;
            url: string;
            events: string[];
            status: string;
            createdAt?: string;
            secret?: string;
            next: string;
        };
        EndpointView: {
            id: string;
            url: string;
            events: string[];
            status: string;
            createdAt?: string;
        };
        EndpointsView: {
            data: components["schemas"]["EndpointView"][];
        };
        ReturnView: {
            id: string;
            payment_id: string;
            invoice_id: string;
            amount: number;
            currency: string;
            status: "returned" | "undone";
            reference: string | null;
            created_at: string;
            undone_at: string | null;
        };
        RecordReturnDto: {
            reference?: string;
            /** The day (UTC) the bank took the money back, YYYY-MM-DD. */
            returned_on?: string;
        };
        UndoReturnDto: Record<string, never>;
        CreatePaymentLinkDto: {
            /** ISO 3166-1 alpha-2. */
            jurisdiction: string;
            /** Where the customer goes after paying. */
            return_url: string;
            /** Seconds. */
            expires_in?: number;
        };
        MoveView: {
            subscription_id: string;
            customer_id: string;
            status: "moving" | "moved" | "skipped" | "failed" | "returning" | "returned";
            fact: {
                [key: string]: unknown;
            } | null;
            reason: string | null;
            way: "custom_method" | "send_invoice";
            before_payment_method: string | null;
            before_collection_method: string | null;
            renews_at: string | null;
            moved_at: string | null;
            changed_by: string;
            created_at: string;
            updated_at: string;
        };
        PageOfMoveView: {
            data: components["schemas"]["MoveView"][];
            next_cursor?: string;
        };
        CreateProformaDto: {
            /** ISO 3166-1 alpha-2. */
            jurisdiction: string;
            /** YYYY-MM-DD, not before the issue date. */
            due_date: string;
            /** YYYY-MM-DD. */
            issue_date?: string;
            /** As in the MoR’s API. */
            provider?: components["schemas"]["ProviderPart"];
            /** As in the MoR’s API. */
            recipient?: components["schemas"]["RecipientPart"];
            tax_calculation_id?: string;
            /** Texts to print on the proforma invoice. */
            notices?: string[];
        };
        FileLinkView: {
            fileName: string | null;
            url: string;
            expiresAt: string | null;
        };
        PendingView: {
            status: "pending";
        };
        PageOfDifferenceView: {
            data: components["schemas"]["DifferenceView"][];
            next_cursor?: string;
        };
        AcknowledgeDto: {
            /** Why the difference may stay. */
            note: string;
        };
        NotificationView: {
            id: string;
            type: "invoice.paid" | "invoice.left_open" | "invoice.action_required" | "refund.succeeded" | "refund.failed" | "signup.completed" | "review.opened" | "review.due_soon" | "webhooks.refusing" | "dispute.opened" | "dispute.closed" | "debit.returned" | "payment_link.created" | "verify.differences" | "customer.method_needed";
            status: "pending" | "delivered" | "dead";
            invoice_id?: string;
            attempts: number;
            last_error?: string;
            created_at: string;
            next_try_at?: string;
            delivered_at?: string;
        };
        PageOfNotificationView: {
            data: components["schemas"]["NotificationView"][];
            next_cursor?: string;
        };
        NotificationTryView: {
            at: string;
            status: number | null;
            error: string | null;
            elapsed_ms: number;
        };
        NotificationWithTriesView: {
            id: string;
            type: "invoice.paid" | "invoice.left_open" | "invoice.action_required" | "refund.succeeded" | "refund.failed" | "signup.completed" | "review.opened" | "review.due_soon" | "webhooks.refusing" | "dispute.opened" | "dispute.closed" | "debit.returned" | "payment_link.created" | "verify.differences" | "customer.method_needed";
            status: "pending" | "delivered" | "dead";
            invoice_id?: string;
            attempts: number;
            last_error?: string;
            created_at: string;
            next_try_at?: string;
            delivered_at?: string;
            tries: components["schemas"]["NotificationTryView"][];
            body: {
                [key: string]: unknown;
            } | null;
        };
        TaxChargeView: {
            kind: string;
            name?: string;
            jurisdiction?: string;
            jurisdictionLevel?: string;
            country?: string;
            taxType?: string;
            providerTaxType?: string;
            rate?: string;
            amount?: string;
            taxableAmount?: string;
        };
        LineTaxView: {
            rate?: string;
            taxAmount: string;
            currency?: string;
            dutyAmount?: string;
            dutyRate?: string;
            dutyBasis?: string;
            appliedHsCode?: string;
            charges: components["schemas"]["TaxChargeView"][];
        };
        TaxLineView: {
            lineItemId: string;
            merchantLineItemReference?: string;
            productCode?: string;
            title?: string;
            description?: string;
            images?: string[];
            unitPrice?: string;
            quantity?: number | string;
            discountAmount?: string;
            itemSubTotalAmount?: string;
            itemNetAmount?: string;
            itemTotalAmount?: string;
            refunded: boolean;
            tax?: components["schemas"]["LineTaxView"];
        };
        TaxEntityView: {
            companyName: string;
        };
        TaxCalculationView: {
            currency: string;
            subTotalAmount?: string;
            discountAmount?: string;
            netAmount?: string;
            taxAmount: string;
            totalAmount: string;
            lineItems: components["schemas"]["TaxLineView"][];
            customer?: components["schemas"]["EchoedCustomer"];
            evidence?: components["schemas"]["EchoedEvidence"];
            taxCalculationId: string;
            createdAt?: string;
            expiresAt: string;
            totalDutyAmount?: string;
            entity?: components["schemas"]["TaxEntityView"];
        };
        TransactionPaymentView: {
            processor?: string;
            paymentReference?: string;
        };
        RefundLineTaxView: {
            rate?: string;
            taxAmount?: string;
            currency?: string;
        };
        TaxRefundLineView: {
            lineItemId: string;
            refundLineItemReference?: string;
            refundReason?: string;
            refundItemSubTotalAmount?: string;
            refundItemTotalAmount?: string;
            refundTax?: components["schemas"]["RefundLineTaxView"];
        };
        TaxRefundView: {
            refundTransactionId: string;
            merchantRefundReference: string;
            refundDate?: string;
            createdAt?: string;
            currency?: string;
            subTotalAmount?: string;
            taxAmount?: string;
            totalAmount?: string;
            refundLineItems: components["schemas"]["TaxRefundLineView"][];
        };
        TaxTransactionView: {
            currency: string;
            subTotalAmount?: string;
            discountAmount?: string;
            netAmount?: string;
            taxAmount: string;
            totalAmount: string;
            lineItems: components["schemas"]["TaxLineView"][];
            customer?: components["schemas"]["EchoedCustomer"];
            evidence?: components["schemas"]["EchoedEvidence"];
            transactionId: string;
            merchantTransactionReference: string;
            refunded: boolean;
            createdAt?: string;
            confirmedAt?: string;
            transactionDate?: string;
            payment?: components["schemas"]["TransactionPaymentView"];
            refundsOnTransaction: components["schemas"]["TaxRefundView"][];
        };
        TaxTransactionsView: {
            transactions: components["schemas"]["TaxTransactionView"][];
            nextCursor?: string;
        };
        TaxInvoiceFileView: {
            fileName?: string;
            url: string;
            expiresAt?: string;
        };
        TaxInvoiceView: {
            b2cInvoice: components["schemas"]["TaxInvoiceFileView"];
        };
        RegionView: {
            id: string;
            name: string;
            flagCode: string;
            countryCode?: string;
            taxSupported: boolean;
            morSupported: boolean;
        };
        RegionsView: {
            data: components["schemas"]["RegionView"][];
        };
        CommentView: {
            field: string;
            message: string;
        };
        ProductView: {
            code: string;
            regions: string[];
        };
        AddressView: {
            line1: string;
            line2: string;
            city: string;
            state: string;
            postalCode: string;
            country: string;
        };
        CompanyView: {
            legalName: string;
            tradingName: string;
            website: string;
            taxId: string;
            registrationNumber: string;
            jurisdiction: string;
            gmvTier: string;
            registeredAddress: components["schemas"]["AddressView"];
        };
        OnboardingView: {
            reference: string;
            merchant_id: string | null;
            application_id: string | null;
            status: string;
            due: string[];
            errors: components["schemas"]["CommentView"][];
            review_message: string | null;
            product: components["schemas"]["ProductView"] | null;
            company: components["schemas"]["CompanyView"] | null;
            business_description: string | null;
            store_urls: string[];
            submitted_at: string | null;
            reviewed_at: string | null;
            next: string;
            existing_application: boolean;
            company_discarded: boolean;
            notice?: string;
            created_at: string;
        };
        PageOfOnboardingView: {
            data: components["schemas"]["OnboardingView"][];
            next_cursor?: string;
        };
        EInvoiceSource: {
            type: string;
            id: string;
        };
        EInvoiceError: {
            message: string;
        };
        EInvoiceFiles: {
            pdfUrl: string | null;
            xmlUrl: string | null;
            expiresAt: string | null;
        };
        EInvoiceView: {
            id: string;
            status: string;
            source?: components["schemas"]["EInvoiceSource"];
            error?: components["schemas"]["EInvoiceError"];
            document?: components["schemas"]["EInvoiceFiles"];
        };
        BareMerchantRequest: {
            merchantReference: string;
            withoutCompany: true;
            productCode?: "tor" | "mor";
        };
        CatalogueProductRequest: {
            /** The key of the variant. */
            productId: string;
            productGroupId?: string;
            title: string;
            requiresShipping: boolean;
            taxable?: boolean;
            description?: string;
            category?: string;
            imageUrl?: string;
            sku?: string;
            hsCode?: string;
            countryOfOrigin?: string;
            priceAmount?: number;
            priceCurrency?: string;
        };
        DescribeBusinessRequest: {
            businessDescription?: string;
            storeUrls?: string[];
            category?: string;
        };
        TaxIdentifier: {
            type: "BR_CPF" | "BR_CNPJ" | "EU_VAT" | "GB_VAT" | "US_EIN";
            code: string;
            buyerTaxRegime?: "SIMPLES_NACIONAL" | "LUCRO_PRESUMIDO" | "LUCRO_REAL";
        };
        BillingAddress: {
            line1: string;
            line2?: string;
            city: string;
            state?: string;
            postalCode: string;
            country: string;
        };
        ShippingAddress: {
            line1?: string;
            line2?: string;
            city?: string;
            state?: string;
            postalCode?: string;
            country: string;
        };
        EchoedCustomer: {
            merchantCustomerReference?: string;
            firstName?: string;
            lastName?: string;
            legalName?: string;
            email?: string;
            taxIdentifiers?: components["schemas"]["TaxIdentifier"][];
            billingAddress?: components["schemas"]["BillingAddress"];
            shippingAddress?: components["schemas"]["ShippingAddress"];
        };
        EchoedEvidence: {
            billingCountry?: string;
            ipAddress?: string;
            paymentMethodCountry?: string;
        };
        OnboardingAddress: {
            line1: string;
            line2?: string;
            city: string;
            state?: string;
            postalCode: string;
            country: string;
        };
        OnboardingCompany: {
            legalName: string;
            tradingName?: string;
            website: string;
            taxId: string;
            registrationNumber: string;
            jurisdiction: string;
            gmvTier?: "UP_TO_100K" | "FROM_100K_TO_250K" | "FROM_250K_TO_500K" | "FROM_500K_TO_1M" | "FROM_1M_TO_10M" | "FROM_10M_TO_50M" | "FROM_50M_TO_100M" | "FROM_100M_TO_250M" | "FROM_250M_TO_500M" | "FROM_500M_TO_1B";
            registeredAddress: components["schemas"]["OnboardingAddress"];
        };
        ComplianceSummary: {
            verificationStatus?: string;
            riskLevel?: string;
            countryOfIncorporation?: string;
            hasOpenComplianceFlags?: boolean;
        };
        InitiateRequest: {
            /** Unique per partner, permanent. */
            merchantReference: string;
            /**
             * @description Fixed once set.
             * @enum {string}
             */
            productCode: "tor" | "mor";
            company: components["schemas"]["OnboardingCompany"];
            returnUrl?: string;
            complianceSummary?: components["schemas"]["ComplianceSummary"];
            merchantContext?: {
                [key: string]: string;
            };
        };
        ProductChoice: {
            code: string;
            regions: string[];
        };
        ProviderPart: {
            providerName?: string;
            providerCountry?: string;
        };
        ProformaAddress: {
            line1: string;
            line2?: string;
            locality: string;
            region?: string;
            postalCode: string;
            country: string;
        };
        ProformaTaxIdentifier: {
            type: string;
            code: string;
            country: string;
        };
        ProformaContact: {
            email: string;
        };
        RecipientPart: {
            legalName?: string;
            address?: components["schemas"]["ProformaAddress"];
            taxIdentifiers?: components["schemas"]["ProformaTaxIdentifier"][];
            contact?: components["schemas"]["ProformaContact"];
        };
        TaxCustomer: {
            merchantCustomerReference?: string;
            firstName?: string;
            lastName?: string;
            legalName?: string;
            email?: string;
            taxIdentifiers?: components["schemas"]["TaxIdentifier"][];
            billingAddress: components["schemas"]["BillingAddress"];
            shippingAddress?: components["schemas"]["ShippingAddress"];
        };
        BrazilLine: {
            municipalServiceCode: string;
        };
        LineJurisdiction: {
            br?: components["schemas"]["BrazilLine"];
        };
        TaxLineRequest: {
            merchantLineItemReference: string;
            productCode: string;
            title?: string;
            description?: string;
            unitPrice: string | number;
            quantity?: number;
            /** Per unit. */
            discountAmount?: string | number;
            /**
             * @description Absent counts as `DIGITAL`.
             * @enum {string}
             */
            productType?: "PHYSICAL" | "DIGITAL";
            countryOfOrigin?: string;
            hsCode?: string;
            category?: string;
            images?: string[];
            jurisdiction?: components["schemas"]["LineJurisdiction"];
        };
        ShipFrom: {
            line1?: string;
            line2?: string;
            city?: string;
            state?: string;
            postalCode?: string;
            country: string;
        };
        TaxEvidence: {
            billingCountry: string;
            ipAddress?: string;
            paymentMethodCountry?: string;
        };
        TaxCalculationRequest: {
            currency: string;
            taxBehavior?: "EXCLUSIVE" | "INCLUSIVE";
            customer: components["schemas"]["TaxCustomer"];
            lineItems: components["schemas"]["TaxLineRequest"][];
            shipFrom?: components["schemas"]["ShipFrom"];
            evidence?: components["schemas"]["TaxEvidence"];
        };
        TaxRefundLineRequest: {
            lineItemId: string;
            refundLineItemReference: string;
            refundReason: string;
            /** Left out: everything that remains of the line. */
            amount?: string;
        };
        TaxRefundRequest: {
            /** Also the idempotency key. */
            merchantRefundReference: string;
            /** As 2026-01-31T12:00:00Z. */
            refundDate?: string;
            taxBehavior?: "EXCLUSIVE" | "INCLUSIVE";
            refundLineItems: components["schemas"]["TaxRefundLineRequest"][];
        };
        TransactionPayment: {
            processor?: string;
            paymentReference?: string;
        };
        TaxTransactionRequest: {
            taxCalculationId: string;
            /** Also the idempotency key. */
            merchantTransactionReference: string;
            payment?: components["schemas"]["TransactionPayment"];
        };
        WebhookEndpointRequest: {
            url: string;
            /** At least one, each of Document 2's. */
            events: string[];
            description?: string;
        };
        ListCustomersQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /** Only this customer's, by the merchant's own id. */
            customer?: string;
            /** The same as `customer`. */
            customer_id?: string;
            /** Only the links to this customer at the MoR. */
            mor_customer_id?: string;
            /** Only from this date (UTC) or time on: when they were linked. */
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
        };
        ListInvoicesQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description Only this status.
             * @enum {string}
             */
            status?: "expected" | "open" | "held" | "marking" | "paid" | "ignored" | "void" | "review";
            /** Only from this date (UTC) or time on: when Stripe made it. */
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
            /** Only this currency (ISO 4217, either case). */
            currency?: string;
            amount?: string;
            /** Only this customer's, by the merchant's own id. */
            customer?: string;
            /** The same as `customer`. */
            customer_id?: string;
        };
        ListPaymentsQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description Only this status.
             * @enum {string}
             */
            status?: "processing" | "succeeded" | "failed" | "requires_action" | "partially_refunded" | "refunded";
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
            /** Only this currency (ISO 4217, either case). */
            currency?: string;
            amount?: string;
            /** Only this customer's, by the merchant's own id. */
            customer?: string;
            /** The same as `customer`. */
            customer_id?: string;
            /** Only this invoice's. */
            invoice_id?: string;
        };
        ListRefundsQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description Only this status.
             * @enum {string}
             */
            status?: "succeeded" | "pending" | "failed" | "unknown";
            /** Only this invoice's. */
            invoice_id?: string;
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
            /** Only this currency (ISO 4217, either case). */
            currency?: string;
            amount?: string;
            /** Only this customer's, by the merchant's own id. */
            customer?: string;
        };
        ListEventsQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description Only from this sender.
             * @enum {string}
             */
            source?: "stripe" | "mor_payments" | "mor_events" | "crossbill";
            /**
             * @description Only this status.
             * @enum {string}
             */
            status?: "received" | "done" | "ignored" | "parked" | "quarantined";
            /** Only this type. */
            type?: string;
            /** Only the sender's event of this id. */
            event_id?: string;
            /** Only from this date (UTC) or time on: when it arrived. */
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
        };
        ListReviewsQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description Only this status.
             * @enum {string}
             */
            status?: "open" | "resolved";
            /**
             * @description Only this kind.
             * @enum {string}
             */
            kind?: "amount_mismatch" | "currency_mismatch" | "customer_mismatch" | "invoice_not_payable" | "double_payment" | "conflicting_event" | "refund_gap" | "refund_stuck" | "renewal_overdue" | "signup_overdue" | "signup_unproven" | "finalization_failed" | "partial_transfer" | "effect_failed" | "dispute" | "debit_returned" | "double_charge_risk";
            /** Only this invoice's. */
            invoice_id?: string;
            /** Only from this date (UTC) or time on: when it was opened. */
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
            /** Only this customer's, by the merchant's own id. */
            customer?: string;
            /**
             * @description `due`: soonest `due_at` first, then items without one.
             * @enum {string}
             */
            order?: "newest" | "due";
        };
        ListLedgerEntriesQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /** Only this invoice's entries. */
            invoice_id?: string;
            payment_id?: string;
            /**
             * @description Only of this reason.
             * @enum {string}
             */
            reason?: "payment_collected" | "payment_marked" | "refund_paid" | "refund_mirrored" | "refund_of_unmarked" | "dispute_lost" | "dispute_reversed" | "debit_returned" | "debit_return_reversed" | "loss_credited" | "loss_credit_reversed";
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
            /** Only this currency (ISO 4217, either case). */
            currency?: string;
            amount?: string;
            /** Only this customer's, by the merchant's own id. */
            customer?: string;
        };
        GetTrialBalanceQuery: {
            /** A month of the calendar in UTC. */
            month: string;
        };
        ListAuditEntriesQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /** Only the actions of this actor, such as an API key's name. */
            actor?: string;
            /** Only this action, for example `refund.create`. */
            action?: string;
            /** Only from this date (UTC) or time on: when it was done. */
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
        };
        ListMovesQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description Only moves in this status.
             * @enum {string}
             */
            status?: "moving" | "moved" | "skipped" | "failed" | "returning" | "returned";
            /** Only this customer's, by the merchant's own id. */
            customer?: string;
            /** The same as `customer`. */
            customer_id?: string;
        };
        ListDifferencesQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
        };
        ListNotificationsQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description Only this status.
             * @enum {string}
             */
            status?: "pending" | "delivered" | "dead";
            /**
             * @description Only this type.
             * @enum {string}
             */
            type?: "invoice.paid" | "invoice.left_open" | "invoice.action_required" | "refund.succeeded" | "refund.failed" | "signup.completed" | "review.opened" | "review.due_soon" | "webhooks.refusing" | "dispute.opened" | "dispute.closed" | "debit.returned" | "payment_link.created" | "verify.differences" | "customer.method_needed";
            since?: string;
            /** Only before this date (UTC) or time. */
            until?: string;
        };
        ListTaxTransactionsQuery: {
            /** 1 to 100, default 20. */
            size?: string;
            /** `nextCursor` of the page before. */
            cursor?: string;
            /** Only the transaction with this reference. */
            merchantTransactionReference?: string;
        };
        ListMerchantsQuery: {
            limit?: number;
            /** `next_cursor` of the page before. */
            cursor?: string;
        };
        InvoicePaidNotification: {
            type: "invoice.paid";
            timestamp: string;
            data: {
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                status: string;
                amount_due: number | null;
                currency: string | null;
                console: string;
                payments: {
                    payment_id: string;
                    processor_charge_id: string | null;
                    amount: number;
                    currency: string;
                }[];
                amount_left: number | null;
            };
        };
        InvoiceLeftOpenNotification: {
            type: "invoice.left_open";
            timestamp: string;
            data: {
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                status: string;
                amount_due: number | null;
                currency: string | null;
                console: string;
                why: "payment_failed" | "no_verdict" | "review";
                payment_id: string | null;
                decline_code: string | null;
                review_id: string | null;
                next_try_at: string | null;
            };
        };
        InvoiceActionRequiredNotification: {
            type: "invoice.action_required";
            timestamp: string;
            data: {
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                status: string;
                amount_due: number | null;
                currency: string | null;
                console: string;
                payment_id: string;
                processor_payment_intent_id: string | null;
            };
        };
        RefundSucceededNotification: {
            type: "refund.succeeded";
            timestamp: string;
            data: {
                refund_id: string;
                mor_refund_id: string | null;
                processor_refund_id: string | null;
                payment_id: string;
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                amount: number;
                currency: string;
                amount_left: number | null;
                made_elsewhere: boolean;
                console: string;
            };
        };
        RefundFailedNotification: {
            type: "refund.failed";
            timestamp: string;
            data: {
                refund_id: string;
                mor_refund_id: string | null;
                processor_refund_id: string | null;
                payment_id: string;
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                amount: number;
                currency: string;
                amount_left: number | null;
                made_elsewhere: boolean;
                console: string;
                failure_code: string | null;
            };
        };
        SignupCompletedNotification: {
            type: "signup.completed";
            timestamp: string;
            data: {
                signup_id: string;
                invoice_id: string;
                customer_id: string;
                subscription_id: string | null;
                payment_id: string;
                processor_charge_id: string | null;
                amount: number;
                currency: string;
                console: string;
            };
        };
        ReviewOpenedNotification: {
            type: "review.opened";
            timestamp: string;
            data: {
                review_id: string;
                kind: string;
                invoice_id: string | null;
                customer_id: string | null;
                subscription_id: string | null;
                refund_id: string | null;
                due_at: string | null;
                console: string;
            };
        };
        ReviewDueSoonNotification: {
            type: "review.due_soon";
            timestamp: string;
            data: {
                review_id: string;
                kind: string;
                invoice_id: string | null;
                customer_id: string | null;
                subscription_id: string | null;
                refund_id: string | null;
                due_at: string | null;
                console: string;
            };
        };
        WebhooksRefusingNotification: {
            type: "webhooks.refusing";
            timestamp: string;
            data: {
                endpoint: "stripe" | "mor_payments" | "mor_events";
                reason: "signature_missing" | "signature_malformed" | "signature_mismatch" | "timestamp_out_of_tolerance" | "too_large" | "headers_too_large" | "body_too_slow" | "unknown_expectation" | "method_not_allowed" | "bad_request" | "crowded" | "database" | "stopping";
                check: string;
                refused: number;
                since: string;
                console: string;
            };
        };
        DisputeOpenedNotification: {
            type: "dispute.opened";
            timestamp: string;
            data: {
                dispute_id: string;
                payment_id: string | null;
                processor_charge_id: string | null;
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                amount: number | null;
                currency: string | null;
                console: string;
                due_at: string | null;
            };
        };
        DisputeClosedNotification: {
            type: "dispute.closed";
            timestamp: string;
            data: {
                dispute_id: string;
                payment_id: string | null;
                processor_charge_id: string | null;
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                amount: number | null;
                currency: string | null;
                console: string;
                outcome: "won" | "lost";
                amount_left: number | null;
            };
        };
        DebitReturnedNotification: {
            type: "debit.returned";
            timestamp: string;
            data: {
                return_id: string;
                status: "returned" | "undone";
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                payment_id: string;
                processor_charge_id: string | null;
                amount: number;
                currency: string;
                amount_left: number | null;
                console: string;
            };
        };
        PaymentLinkCreatedNotification: {
            type: "payment_link.created";
            timestamp: string;
            data: {
                payment_link_id: string;
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                url: string;
                amount: number | null;
                currency: string | null;
                expires_at: string | null;
                automatic: boolean;
                console: string;
            };
        };
        VerifyDifferencesNotification: {
            type: "verify.differences";
            timestamp: string;
            data: {
                run_id: string;
                differences: number;
                by_kind: {
                    [key: string]: number;
                };
                console: string;
            };
        };
        CustomerMethodNeededNotification: {
            type: "customer.method_needed";
            timestamp: string;
            data: {
                invoice_id: string;
                customer_id: string | null;
                subscription_id: string | null;
                status: string;
                amount_due: number | null;
                currency: string | null;
                console: string;
                payment_id: string;
                amount: number;
                decline_code: string | null;
                failure_message: string | null;
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
