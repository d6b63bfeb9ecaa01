import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { PartnerEntity } from './partner.entity.js';

/** A key of a partner: nothing in it opens anything without SECRETS_KEY. */
@Entity({ schema: 'partners', name: 'credential' })
export class CredentialEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('uuid')
  partnerId!: string;

  @ManyToOne(() => PartnerEntity)
  @JoinColumn()
  partner!: PartnerEntity;

  /** SHA-256 of the API key. */
  @Column('bytea', { unique: true })
  keyHash!: Buffer;

  /** The key's first 12 characters, to tell credentials apart in lists. */
  @Column('text')
  keyPrefix!: string;

  /** Sealed with the hash of the key as its context. */
  @Column('bytea')
  secretCiphertext!: Buffer;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;

  /** It was replaced, and is good until then; null: until it is revoked. */
  @Column('timestamptz', { nullable: true })
  endsAt!: Date | null;

  /** To the minute; null where it was not used since that is noted. */
  @Column('timestamptz', { nullable: true })
  lastUsedAt!: Date | null;
}
