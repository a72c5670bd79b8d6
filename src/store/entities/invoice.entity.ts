// An invoice of Stripe, as far as we know it.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type InvoiceRow } from '../../domain/model.js';
import { BIGINT, SEQ } from './columns.js';

@Entity('invoice')
export class InvoiceEntity implements InvoiceRow {
  @PrimaryColumn('text') invoiceId!: string;
  @Column('text', { nullable: true }) customerId!: string | null;
  @Column('char', { length: 2, nullable: true }) customerCountry!: string | null;
  @Column('text', { nullable: true }) number!: string | null;
  @Column('text') status!: InvoiceRow['status'];
  @Column('text') platformStatus!: InvoiceRow['platformStatus'];
  @Column('text', { nullable: true }) billingReason!: string | null;
  @Column('char', { length: 3, nullable: true }) currency!: string | null;
  @Column('bigint', { nullable: true, transformer: BIGINT }) amountDue!: bigint | null;
  @Column('bigint', { nullable: true, transformer: BIGINT }) amountPaid!: bigint | null;
  @Column('bigint', { nullable: true, transformer: BIGINT }) amountRemaining!: bigint | null;
  @Column('bigint', { nullable: true, transformer: BIGINT }) total!: bigint | null;
  @Column('bigint', { nullable: true, transformer: BIGINT }) amountOverpaid!: bigint | null;
  @Column('text', { nullable: true }) subscriptionId!: string | null;
  @Column('text', { nullable: true }) collectionMethod!: string | null;
  @Column('boolean', { nullable: true }) paysByDebit!: boolean | null;
  @Column('boolean', { nullable: true }) enrolled!: boolean | null;
  @Column('boolean', { nullable: true }) autoAdvance!: boolean | null;
  @Column('text', { nullable: true }) ownMethodId!: string | null;
  @Column('text', { nullable: true }) latestRevision!: string | null;
  @Column('jsonb', { nullable: true }) charged!: InvoiceRow['charged'];
  @Column('timestamptz', { nullable: true }) chargeLookedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) lookDueAt!: Date | null;
  @Column('integer', { default: 0 }) lookAttempts!: number;
  @Column('timestamptz', { nullable: true }) platformCreatedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) finalizesAt!: Date | null;
  @Column('text', { nullable: true }) finalizationError!: string | null;
  @Column('timestamptz', { nullable: true }) factsAt!: Date | null;
  @Column('timestamptz', { nullable: true }) readAt!: Date | null;
  @Column('timestamptz', { nullable: true }) readDueAt!: Date | null;
  @Column('integer', { default: 0 }) readAttempts!: number;
  @Column('timestamptz', { nullable: true }) expectedBy!: Date | null;
  @Column('timestamptz', { nullable: true }) holdUntil!: Date | null;
  @Column('jsonb', { nullable: true }) retries!: InvoiceRow['retries'];
  @Column('jsonb', { nullable: true }) method!: InvoiceRow['method'];
  @Column('timestamptz', { nullable: true }) nextTryAt!: Date | null;
  @Column('timestamptz') firstSeenAt!: Date;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}
