// What waits for a person, or did.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { factFromJson, factToJson } from '../../domain/fact.js';
import { type ReviewRow } from '../../domain/model.js';
import { SEQ } from './columns.js';

@Entity('review')
export class ReviewEntity implements ReviewRow {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: ReviewRow['kind'];
  @Column('text') status!: ReviewRow['status'];
  @Column('text') topic!: ReviewRow['topic'];
  @Column('text') subject!: string;
  @Column('text', { nullable: true }) invoiceId!: string | null;
  @Column('text', { nullable: true }) paymentRowId!: string | null;
  @Column('text', { nullable: true }) refundId!: string | null;
  /** Its amounts are text in the table. */
  @Column('jsonb', { transformer: { to: factToJson, from: factFromJson } }) fact!: ReviewRow['fact'];
  @Column('text', { array: true }) actions!: ReviewRow['actions'];
  @Column('text', { nullable: true }) proposed!: NonNullable<ReviewRow['proposed']> | null;
  @Column('timestamptz') createdAt!: Date;
  @Column('timestamptz', { nullable: true }) resolvedAt!: Date | null;
  @Column('text', { nullable: true }) resolvedBy!: string | null;
  @Column('text', { nullable: true }) resolution!: NonNullable<ReviewRow['resolution']> | null;
  @Column('text', { nullable: true }) note!: string | null;
  @Column('timestamptz', { nullable: true }) dueAt!: Date | null;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}
