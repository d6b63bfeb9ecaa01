import { describe, expect, it } from '@jest/globals';
import { type OperatorRole } from '#libs/db';
import { type ConsoleSettings } from '../console.env.js';
import { groupRoles, operatorWallets } from './operator-roles.js';
import { oidcSubject, roleNow, walletSubject } from './operators.js';

const [ISSUER, OTHER_ISSUER] = ['https://issuer.example', 'https://issuer.example.org'];
const [WALLET, OTHER_WALLET] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];
const ANN = oidcSubject(ISSUER, 'ann');

const settings = (operators: string, groups = 'ops=admin', oidcIssuer = ISSUER): ConsoleSettings =>
  ({
    operators: operators === '' ? undefined : operatorWallets(operators),
    oidcRoles: groupRoles(groups),
    oidcIssuer,
  }) as ConsoleSettings;

describe('the role of an operator now', () => {
  it.each<[string, string, ConsoleSettings, OperatorRole | undefined]>([
    ['a wallet: that of the list', WALLET, settings(`${WALLET}=viewer`), 'viewer'],
    [
      'a wallet that is no longer listed: none',
      WALLET,
      settings(`${OTHER_WALLET}=admin`),
      undefined,
    ],
    ['a wallet without a list: none', WALLET, settings(''), undefined],
  ])('is, of %s', (_case, wallet, now, role) => {
    expect(roleNow(walletSubject(wallet), 'admin', now)).toBe(role);
  });

  it.each<[string, ConsoleSettings, OperatorRole | undefined]>([
    ['that of the sign-in', settings('', 'ops=admin,staff=viewer'), 'admin'],
    ['none if no group gives this role any more', settings('', 'ops=operator'), undefined],
    ['none if the issuer is another', settings('', 'ops=admin', OTHER_ISSUER), undefined],
  ])('is, of a person of an issuer, %s', (_case, now, role) => {
    expect(roleNow(ANN, 'admin', now)).toBe(role);
  });

  it('is none of a person to whom the sign-in gave none', () => {
    expect(roleNow(ANN, undefined, settings(''))).toBeUndefined();
  });

  it('is, of a person who signed in by a link, that of the link', () => {
    expect(roleNow('link:first', 'admin', settings(''))).toBe('admin');
  });
});
