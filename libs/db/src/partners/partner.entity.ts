import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'partners', name: 'partner' })
export class PartnerEntity {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  /** Unique whatever its capitals. */
  @Column('text')
  name!: string;

  /** Requests per second. */
  @Column('int', { default: 20 })
  rate!: number;

  /** Requests at once. */
  @Column('int', { default: 100 })
  burst!: number;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;
}
