import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { type PartnerId } from '#libs/domain';
import { StakeSetEntity } from '../connection/stake-set.js';

@Entity({ schema: 'partners', name: 'partner' })
export class PartnerEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: PartnerId;

  /** Unique, ignoring upper and lower case. */
  @Column('text')
  name!: string;

  @Column('int', { default: 20 })
  rate!: number;

  @Column('int', { default: 100 })
  burst!: number;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  /** The stake set of requests that name no contract; null for the default set. */
  @Column('text', { nullable: true })
  stakeSet!: string | null;

  @ManyToOne(() => StakeSetEntity)
  @JoinColumn({ name: 'stake_set' })
  set!: StakeSetEntity | null;
}
