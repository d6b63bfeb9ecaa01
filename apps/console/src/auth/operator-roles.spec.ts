import { describe, expect, it } from '@jest/globals';
import { type OperatorRole } from '#libs/db';
import { type ConsoleSettings } from '../console.env.js';
import { groupRoles, operatorWallets } from './operator-roles.js';
import { oidcSubject, roleNow, roleOfGroups, walletSubject } from './operators.js';

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

const [ISSUER, OTHER_ISSUER] = ['https://issuer.example', 'https://issuer.example.org'];
const PERSON = oidcSubject(ISSUER, 'ann');

const settingsOf = (
  operators: string,
  groups = 'ops=admin',
  oidcIssuer = ISSUER,
): ConsoleSettings =>
  ({
    operators: operators === '' ? undefined : operatorWallets(operators),
    oidcRoles: groupRoles(groups),
    oidcIssuer,
  }) as ConsoleSettings;

it.each<[string, object]>([
  ['groups', { groups: ['players', 'ops'] }],
  ['groups', { groups: 'ops' }],
  ['https://issuer.example/groups', { 'https://issuer.example/groups': ['ops'] }],
  ['realm_access.roles', { realm_access: { roles: ['ops'] } }],
  ['resource_access.my.app.roles', { resource_access: { 'my.app': { roles: ['ops'] } } }],
  [
    'urn:zitadel:iam:org:project:roles',
    { 'urn:zitadel:iam:org:project:roles': { ops: { 1: 'x' } } },
  ],
])('finds the groups in the claim %s of %j', (oidcGroupsClaim, claims) => {
  const settings = { oidcGroupsClaim, oidcRoles: groupRoles('ops=admin') } as ConsoleSettings;
  expect(roleOfGroups(claims as Readonly<Record<string, unknown>>, settings)).toBe('admin');
});

it.each<[string, object]>([
  ['groups', { groups: [['ops']] }],
  ['groups', { groups: { roles: ['ops'] } }],
  ['groups', { groups: { ops: false, staff: {} } }],
  ['a.b', { a: 'ops' }],
  ['a.b', { a: ['ops'] }],
  ['constructor.name', {}],
])('finds none in the claim %s of %j', (oidcGroupsClaim, claims) => {
  const settings = { oidcGroupsClaim, oidcRoles: groupRoles('ops=admin') } as ConsoleSettings;
  expect(roleOfGroups(claims as Readonly<Record<string, unknown>>, settings)).toBeUndefined();
});

describe('the role of an operator now', () => {
  it.each<[string, string, ConsoleSettings, OperatorRole | undefined]>([
    ['a wallet: that of the list', ANN, settingsOf(`${ANN}=viewer`), 'viewer'],
    ['a wallet that is no longer listed: none', ANN, settingsOf(`${BOB}=admin`), undefined],
    ['a wallet without a list: none', ANN, settingsOf(''), undefined],
  ])('is, of %s', (_case, wallet, now, role) => {
    expect(roleNow(walletSubject(wallet), 'admin', now)).toBe(role);
  });

  it.each<[string, ConsoleSettings, OperatorRole | undefined]>([
    ['that of the sign-in', settingsOf('', 'ops=admin,staff=viewer'), 'admin'],
    ['none if no group gives this role any more', settingsOf('', 'ops=operator'), undefined],
    ['none if the issuer is another', settingsOf('', 'ops=admin', OTHER_ISSUER), undefined],
  ])('is, of a person of an issuer, %s', (_case, now, role) => {
    expect(roleNow(PERSON, 'admin', now)).toBe(role);
  });

  it('is none of a person to whom the sign-in gave none', () => {
    expect(roleNow(PERSON, undefined, settingsOf(''))).toBeUndefined();
  });

  it('is, of a person who signed in by a link, that of the link', () => {
    expect(roleNow('link:first', 'admin', settingsOf(''))).toBe('admin');
  });
});
