/**
 * Stake sets in the database. Each has a schema of its own, with the same tables as `staking`, the
 * schema of the default set. While a set is indexed again, it has a second one.
 */
import { type Statement } from './named.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DEFAULT_STAKE_SET, isStakeSetName, PermanentError, STAKE_SET_RULE } from '#libs/domain';

const DEFAULT_SCHEMA = 'staking';
const PREFIX = 'stakes_';

/**
 * - `current`: the index in use;
 * - `next`: the new index that `index again` makes beside it;
 * - `before`: the index that was in use before, which `index again` keeps until an operator removes it.
 */
export type IndexPart = 'current' | 'next' | 'before';

/**
 * Regular expression for SQL that matches the schemas in which programs have rights, except `staking` itself. The
 * schema of an index that is no longer in use (`stakes_golf_before`) does not match.
 */
export const SET_SCHEMAS = `^(${DEFAULT_SCHEMA}_next|${PREFIX}[a-z0-9]+(_next)?)$`;

export class UnknownStakeSetError extends PermanentError {
  constructor(set: string, known: readonly string[]) {
    super(
      'STAKE_SET_UNKNOWN',
      `This database has no stake set ${set}; it has ${known.join(', ')}. Correct STAKE_SET, or add ${set} to ` +
        'STAKE_SETS and run `npm run migrate`. See docs/operating/several-contracts.md.',
    );
  }
}

/** @throws TypeError where the name is not valid, because it must not get into SQL */
export function schemaOf(set: string, part: IndexPart = 'current'): string {
  if (!isStakeSetName(set)) throw new TypeError(`a stake set is called by ${STAKE_SET_RULE}`);
  const schema = set === DEFAULT_STAKE_SET ? DEFAULT_SCHEMA : `${PREFIX}${set}`;
  return part === 'current' ? schema : `${schema}_${part}`;
}

const SCHEMA_OF_SET = new RegExp(`^(${DEFAULT_SCHEMA}_next|${PREFIX}[a-z0-9]+(_next)?)(?=\\.|$)`);

/**
 * The name of a schema, or of a table with its schema, in the default set. A name outside of
 * stake sets stays unchanged.
 */
export function inDefaultSet(name: string): string {
  return name.replace(SCHEMA_OF_SET, DEFAULT_SCHEMA);
}

/** Matches `staking.block` and `SCHEMA staking`. */
const OF_DEFAULT_SET = /(?<=\bSCHEMA )staking\b|\bstaking(?=\.)/g;

/**
 * Translates SQL for the default set into SQL for another set. All SQL names tables and functions of a set with their
 * schema, also inside function bodies.
 */
export function sqlInSchema(sql: string, schema: string): string {
  return sql.replace(OF_DEFAULT_SET, schema);
}

/** The statements that have a name, by that name in another schema. They are few, because they are constants. */
const translated = new Map<string, Statement>();

/** On a connection a name stands for one text, so a statement in another schema needs a name of its own. */
export function inSchema({ name, text }: Statement, schema: string): Statement {
  if (schema === DEFAULT_SCHEMA) return { name, text };
  if (name === undefined) return { text: sqlInSchema(text, schema) };
  const ownName = `${name} ${schema}`;
  let statement = translated.get(ownName);
  if (statement === undefined) {
    statement = { name: ownName, text: sqlInSchema(text, schema) };
    translated.set(ownName, statement);
  }
  return statement;
}

/** A stake set other than the default one. */
@Entity({ schema: 'lowmark', name: 'stake_set' })
export class StakeSetEntity {
  @PrimaryColumn('text')
  name!: string;

  /** The migrations that were applied to its schema. */
  @Column('text', { array: true })
  migrations!: string[];

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;
}
