/** Where a stake set has its tables: a schema of its own, with the same tables as `staking`, the schema of the default set. */
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DEFAULT_STAKE_SET, isStakeSetName, PermanentError, STAKE_SET_RULE } from '#libs/domain';

const DEFAULT_SCHEMA = 'staking';
const PREFIX = 'stakes_';

/** For SQL: the schemas of all sets but the default one. What an operator has set aside (`stakes_golf_before`) is none. */
export const SET_SCHEMAS = `^${PREFIX}[a-z0-9]+$`;

export class UnknownStakeSetError extends PermanentError {
  constructor(set: string, known: readonly string[]) {
    super(
      'STAKE_SET_UNKNOWN',
      `This database has no stake set ${set}; it has ${known.join(', ')}. Correct STAKE_SET, or add ${set} to ` +
        'STAKE_SETS and run `npm run migrate`. See docs/operating/several-contracts.md.',
    );
  }
}

/** @throws TypeError where the name is none: it must not come into SQL */
export function schemaOf(set: string): string {
  if (!isStakeSetName(set)) throw new TypeError(`a stake set is called by ${STAKE_SET_RULE}`);
  return set === DEFAULT_STAKE_SET ? DEFAULT_SCHEMA : `${PREFIX}${set}`;
}

const SCHEMA_OF_SET = new RegExp(`^${PREFIX}[a-z0-9]+(?=\\.|$)`);

/** A schema, or a table with its schema, as it is called in the default set; what is of no set stays as it is. */
export function inDefaultSet(name: string): string {
  return name.replace(SCHEMA_OF_SET, DEFAULT_SCHEMA);
}

/** `staking.block`, `"staking"."block"` as TypeORM writes it, and `SCHEMA staking`. */
const OF_DEFAULT_SET = /(?<=\bSCHEMA )staking\b|\bstaking(?=\.)|"staking"(?=\.)/g;

/** SQL for the default set as it is for another one. Everything of a set is named with its schema, functions and their bodies too. */
export function sqlInSchema(sql: string, schema: string): string {
  return sql.replace(OF_DEFAULT_SET, schema);
}

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
