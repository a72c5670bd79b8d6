// One action and its actor. A row never changes.
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('audit')
export class AuditEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id!: string;
  @Column('timestamptz') at!: Date;
  @Column('text') actor!: string;
  @Column('text', { nullable: true }) role!: string | null;
  @Column('text') action!: string;
  @Column('text', { nullable: true }) target!: string | null;
  @Column('text') source!: string;
  @Column('text') outcome!: string;
  @Column('integer') status!: number;
  @Column('jsonb', { nullable: true }) detail!: Readonly<Record<string, unknown>> | null;
}

export type AuditRow = Readonly<AuditEntity>;
