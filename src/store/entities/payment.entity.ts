// A payment that the MoR took.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type PaymentRow } from '../../domain/model.js';
import { BIGINT, SEQ } from './columns.js';

@Entity('payment')
export class PaymentEntity implements PaymentRow {
  @PrimaryColumn('text') id!: string;
  @Column('text', { nullable: true }) paymentId!: string | null;
  @Column('text') invoiceId!: string;
  @Column('text') customerId!: string;
  @Column('text') origin!: PaymentRow['origin'];
  @Column('text') status!: PaymentRow['status'];
  @Column('bigint', { nullable: true, transformer: BIGINT }) amount!: bigint | null;
  @Column('char', { length: 3 }) currency!: string;
  @Column('text', { nullable: true }) processorChargeId!: string | null;
  @Column('text', { nullable: true }) processorPaymentIntentId!: string | null;
  @Column('text', { nullable: true }) reference!: string | null;
  @Column('timestamptz', { nullable: true }) pendingSince!: Date | null;
  @Column('timestamptz', { nullable: true }) succeededAt!: Date | null;
  @Column('timestamptz', { nullable: true }) verdictAt!: Date | null;
  @Column('text', { nullable: true }) failureMessage!: string | null;
  @Column('text', { nullable: true }) declineCode!: string | null;
  @Column('text') mark!: PaymentRow['mark'];
  @Column('text', { nullable: true }) markMode!: NonNullable<PaymentRow['markMode']> | null;
  @Column('text', { nullable: true }) paymentRecordId!: string | null;
  @Column('integer', { default: 0 }) markTries!: number;
  @Column('timestamptz', { nullable: true }) proveDueAt!: Date | null;
  @Column('integer', { default: 0 }) proveAttempts!: number;
  @Column('text', { array: true, default: () => "'{}'" }) waived!: PaymentRow['waived'];
  @Column('bigint', { default: 0, transformer: BIGINT }) amountRefunded!: bigint;
  @Column('bigint', { nullable: true, transformer: BIGINT }) refundedTotal!: bigint | null;
  @Column('text', { nullable: true }) signupId!: string | null;
  @Column('text', { nullable: true }) identifiedBy!: string | null;
  @Column('timestamptz') recordedAt!: Date;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}
