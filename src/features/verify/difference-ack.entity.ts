// A person's acknowledgement of a difference.
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('difference_ack')
export class DifferenceAckEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: string;
  @Column('text', { nullable: true }) invoiceId!: string | null;
  @Column('text', { nullable: true }) note!: string | null;
  @Column('text') by!: string;
  @Column('timestamptz') at!: Date;
}
