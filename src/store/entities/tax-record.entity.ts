// Tax that Crossbill commits itself.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type TaxRecord } from '../../domain/tax-record.js';
import { SEQ } from './columns.js';

@Entity('tax_record')
export class TaxRecordEntity implements TaxRecord {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: TaxRecord['kind'];
  @Column('text') invoiceId!: string;
  @Column('text') paymentRowId!: string;
  @Column('text', { nullable: true }) refundId!: string | null;
  @Column('text') stage!: TaxRecord['stage'];
  @Column('text') reference!: string;
  @Column('text', { nullable: true }) taxCalculationId!: string | null;
  @Column('text', { nullable: true }) morId!: string | null;
  @Column('char', { length: 3 }) currency!: string;
  @Column('jsonb', { default: () => "'[]'" }) lines!: TaxRecord['lines'];
  @Column('integer', { default: 0 }) calculations!: number;
  @Column('timestamptz', { nullable: true }) dueAt!: Date | null;
  @Column('integer', { default: 0 }) attempts!: number;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') updatedAt!: Date;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}
