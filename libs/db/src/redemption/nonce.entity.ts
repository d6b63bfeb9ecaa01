import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Of Sign-In with Ethereum: handed out and not used yet. */
@Entity({ schema: 'redemption', name: 'nonce' })
export class NonceEntity {
  @PrimaryColumn('text')
  nonce!: string;

  @Column('timestamptz')
  expiresAt!: Date;
}
