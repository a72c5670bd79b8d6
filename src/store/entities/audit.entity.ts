// Who did what; never changed.
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type AuditRow } from '../../domain/ports/books.js';

@Entity('audit')
export class AuditEntity implements AuditRow {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('timestamptz') at!: Date;
  @Column('text') actor!: string;
  @Column('text', { nullable: true }) role!: string | null;
  @Column('text') action!: string;
  @Column('text', { nullable: true }) target!: string | null;
  @Column('text') source!: string;
  @Column('text') outcome!: string;
  @Column('integer') status!: number;
  @Column('jsonb', { nullable: true }) detail!: NonNullable<AuditRow['detail']> | null;
}
