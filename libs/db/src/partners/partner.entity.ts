import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { StakeSetEntity } from '../stake-sets/stake-set.js';

@Entity({ schema: 'partners', name: 'partner' })
export class PartnerEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  /** Unique whatever its capitals. */
  @Column('text')
  name!: string;

  @Column('int', { default: 20 })
  rate!: number;

  @Column('int', { default: 100 })
  burst!: number;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  /** What its requests mean that name no contract; null: the default set. */
  @Column('text', { nullable: true })
  stakeSet!: string | null;

  @ManyToOne(() => StakeSetEntity)
  @JoinColumn({ name: 'stake_set' })
  set!: StakeSetEntity | null;
}
