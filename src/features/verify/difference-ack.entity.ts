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

/** For an erasure: removes the notes on differences about the invoices `$1`. */
export const FORGET_NOTES = 'update difference_ack set note = null where invoice_id = any($1) and note is not null';

/**
 * For an erasure: removes the notes on differences about no invoice, such as a credit on a customer's balance, if their
 * sentence names one of the ids `$1`.
 */
export const FORGET_LOOSE_NOTES = `
  update difference_ack set note = null where note is not null and invoice_id is null and id in (
    select d ->> 'id' from verify_run cross join jsonb_array_elements(differences) d
     where d ->> 'invoiceId' is null and string_to_array(regexp_replace(d ->> 'detail', '[^A-Za-z0-9_-]+', ' ', 'g'), ' ') && $1)`;
