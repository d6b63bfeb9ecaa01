import { expect, it } from '@jest/globals';
import { groupRoles, operatorWallets } from './operator-roles.js';

const ANN = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b2'.repeat(20)}`;

it('takes wallets with their roles, and groups whose names have an equals sign', () => {
  expect([...operatorWallets(`${ANN}=admin, ${BOB}=viewer`)]).toEqual([
    [ANN, 'admin'],
    [BOB, 'viewer'],
  ]);
  expect([...groupRoles('cn=ops=admin')]).toEqual([['cn=ops', 'admin']]);
});

it('takes groups with any name in a JSON object', () => {
  const groups = {
    'CN=Game\\, Ops,OU=Groups,DC=example,DC=com': 'admin',
    'cn=support,ou=groups,dc=example,dc=com': 'operator',
    ' a "quoted" name= ': 'viewer',
    '{x}': 'viewer',
  };
  expect([...groupRoles(JSON.stringify(groups))]).toEqual(Object.entries(groups));
  expect([...groupRoles(` ${JSON.stringify(groups, null, 2)}\n`)]).toHaveLength(4);
});

it.each([
  ['{"ops":"root"}', 'entry 1 is not'],
  ['{"ops":["admin"]}', 'entry 1 is not'],
  ['{"ops":null}', 'entry 1 is not'],
  ['{}', 'it is empty'],
  ['{ops=admin', 'it is not JSON'],
])('says what a JSON object looks like: %s', (text, fault) => {
  const expected =
    'must be a JSON object {"GROUP":"ROLE"}, where a role is one of viewer, operator, admin';
  expect(() => groupRoles(text)).toThrow(`${expected}: ${fault}`);
});

it('says what an entry looks like, and which one does not', () => {
  const expected = 'must be a list of 0x…=ROLE, where a role is one of viewer, operator, admin';
  expect(() => operatorWallets(`${ANN}=admin,${BOB}=root`)).toThrow(`${expected}: entry 2 is not`);
  expect(() => operatorWallets(ANN)).toThrow(`${expected}: entry 1 is not`);
  expect(() => operatorWallets(`${ANN}=admin,0x${'0'.repeat(40)}=admin`)).toThrow(
    `must be wallets of people: 0x${'0'.repeat(40)} has no holder`,
  );
  expect(() => groupRoles('ops=root')).toThrow('must be a list of GROUP=ROLE');
  expect(() => groupRoles('ops=admin,ops=viewer')).toThrow(
    'must name each only once: entry 2 is there before',
  );
});
