import { describe, expect, it } from '@jest/globals';
import { migrations } from '../migrations/index.js';
import { inDefaultSet, schemaOf, sqlInSchema } from '../connection/stake-set.js';
import { SET_MIGRATION_NAMES } from './upgrade-sets.js';

describe('schemaOf', () => {
  it('is the one that there always was for the default set, and one of its own for another', () => {
    expect([schemaOf('default'), schemaOf('golf')]).toEqual(['staking', 'stakes_golf']);
  });

  it('is another one for the index that is made beside it, and for the one before', () => {
    expect([schemaOf('default', 'next'), schemaOf('golf', 'before')]).toEqual([
      'staking_next',
      'stakes_golf_before',
    ]);
  });

  it.each(['', 'Golf', 'golf_before', 'g"; DROP', '1golf', 'g'.repeat(32)])(
    'lets no name into SQL that is none: %s',
    (name) => {
      expect(() => schemaOf(name)).toThrow(TypeError);
    },
  );
});

describe('sqlInSchema', () => {
  it.each([
    ['SELECT * FROM staking.block', 'SELECT * FROM stakes_golf.block'],
    ['CREATE SCHEMA staking; GRANT', 'CREATE SCHEMA stakes_golf; GRANT'],
    [`'staking.index_state'::regclass`, `'stakes_golf.index_state'::regclass`],
    ['SELECT staking FROM nostaking.x, staking_next.y', undefined],
    ['SELECT FROM partners.partner, redemption.audit', undefined],
  ])('%s', (sql, expected = sql) => {
    expect(sqlInSchema(sql, 'stakes_golf')).toBe(expected);
  });
});

describe('inDefaultSet', () => {
  it.each([
    ['stakes_golf', 'staking'],
    ['stakes_golf.block', 'staking.block'],
    ['stakes_golf_next.block', 'staking.block'],
    ['staking_next', 'staking'],
    ['staking_before.block', undefined],
    ['stakes_golf_before.block', undefined],
    ['partners.stakes_golf', undefined],
  ])('%s', (name, expected = name) => {
    expect(inDefaultSet(name)).toBe(expected);
  });
});

describe('the migrations of a set', () => {
  it('are all that touch the schema of the default one, in their order; its rights are given by rights.ts', async () => {
    const touching: string[] = [];
    for (const migration of migrations.map((Migration) => new Migration())) {
      const said: string[] = [];
      const query = (sql: string) => Promise.resolve(said.push(sql));
      await migration.up({ query } as never);
      if (/\bstaking\b/.test(said.join('\n'))) touching.push(migration.name);
    }
    expect(SET_MIGRATION_NAMES).toEqual(touching);
  });
});
