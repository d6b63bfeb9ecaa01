import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { type CredentialId, type PartnerId } from '#libs/domain';
import { PartnerEntity } from './partner.entity.js';

/** A credential of a partner. Without SECRETS_KEY, its row gives access to nothing. */
@Entity({ schema: 'partners', name: 'credential' })
export class CredentialEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: CredentialId;

  @Column('uuid')
  partnerId!: PartnerId;

  @ManyToOne(() => PartnerEntity)
  @JoinColumn()
  partner!: PartnerEntity;

  /** SHA-256 of the API key. */
  @Column('bytea', { unique: true })
  keyHash!: Buffer;

  /** The first 12 characters of the key, to distinguish credentials in lists. */
  @Column('text')
  keyPrefix!: string;

  /** The signing secret, sealed with the hash of the key as context. */
  @Column('bytea')
  secretCiphertext!: Buffer;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;

  /** End of validity of a replaced credential; null where a credential is valid until it is revoked. */
  @Column('timestamptz', { nullable: true })
  endsAt!: Date | null;

  /** Exact to the minute; null where the credential was not used since uses are recorded. */
  @Column('timestamptz', { nullable: true })
  lastUsedAt!: Date | null;
}
