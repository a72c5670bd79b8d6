// What the MoR keeps beside an invoice.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { BIGINT, SEQ } from './columns.js';

@Entity('mor_object')
export class MorObjectEntity implements MorObjectRow {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: MorObjectRow['kind'];
  @Column('text', { nullable: true }) morId!: string | null;
  @Column('text') invoiceId!: string;
  @Column('text', { nullable: true }) paymentRowId!: string | null;
  @Column('text') status!: string;
  @Column('bigint', { nullable: true, transformer: BIGINT }) amount!: bigint | null;
  @Column('char', { length: 3, nullable: true }) currency!: string | null;
  @Column('text', { nullable: true }) number!: string | null;
  @Column('text', { nullable: true }) url!: string | null;
  @Column('timestamptz', { nullable: true }) deadline!: Date | null;
  @Column('jsonb', { default: () => "'{}'" }) detail!: MorObjectRow['detail'];
  @Column('timestamptz', { nullable: true }) readDueAt!: Date | null;
  @Column('integer', { default: 0 }) readAttempts!: number;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz') updatedAt!: Date;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}
