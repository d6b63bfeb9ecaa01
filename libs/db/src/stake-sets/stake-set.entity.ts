import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A stake set besides the default one. */
@Entity({ schema: 'lowmark', name: 'stake_set' })
export class StakeSetEntity {
  @PrimaryColumn('text')
  name!: string;

  /** Those that were applied to its schema. */
  @Column('text', { array: true })
  migrations!: string[];

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;
}
