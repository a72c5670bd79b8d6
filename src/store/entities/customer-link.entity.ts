// A customer and the MoR's own customer.
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type CustomerLink } from '../../domain/ports/customer-links.js';
import { SEQ } from './columns.js';

@Entity('customer_link')
export class CustomerLinkEntity implements CustomerLink {
  @PrimaryColumn('text') customerId!: string;
  @PrimaryColumn('text') morCustomerId!: string;
  @Column('text', { nullable: true }) signupId!: string | null;
  @Column('text', { nullable: true }) reference!: string | null;
  @Column('text', { default: 'signup' }) linkedBy!: string;
  @Column('timestamptz') linkedAt!: Date;
  /** Of its table: the order in which rows were first written. */
  @Column(SEQ) seq!: string;
}
