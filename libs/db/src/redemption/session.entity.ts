import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type Address } from '#libs/domain';
import { HEX } from '../connection/columns.js';

@Entity({ schema: 'redemption', name: 'session' })
export class SessionEntity {
  /** SHA-256 of the bearer token, which itself is not stored. */
  @PrimaryColumn('bytea')
  tokenHash!: Buffer;

  @Column('bytea', { transformer: HEX })
  wallet!: Address;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { default: () => 'clock_timestamp()' })
  createdAt!: Date;

  /** The page on which the wallet signed in, which was one of SIWE_DOMAINS. */
  @Column('text')
  domain!: string;

  /** MAC under EVIDENCE_KEY over token hash, wallet, domain and expiry. */
  @Column('bytea')
  mac!: Buffer;
}
