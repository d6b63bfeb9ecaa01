import { type PartnerId } from '../values/ids.js';
import { describe, expect, it } from '@jest/globals';
import {
  evidenceContent,
  sendsTransactionIds,
  sessionContent,
  transactionIdsContent,
} from './evidence-content.js';
import { REDEMPTION_STATES, type Redemption } from './redemption.js';
import { aPlan, aRedemption, aUuid, START_MS, WALLET } from './testing/builders.js';

const PLACE = { vault: WALLET, chainId: 1, fromBlock: 5n };
const OTHER = `0x${'b2'.repeat(20)}` as typeof WALLET;
const contentOf = (redemption: Redemption) =>
  evidenceContent(redemption, redemption.plan === null ? null : PLACE);

describe('the content of a row’s MAC', () => {
  it('is there in every state that a payout follows from, and wherever there is a plan', () => {
    const states = REDEMPTION_STATES.filter((state) => contentOf(aRedemption(state)) !== undefined);
    expect(states).toEqual(['created', 'deducting', 'deducted', 'authorised', 'claimed']);
  });

  it.each<[string, Partial<Redemption>]>([
    ['the id', { id: aUuid(START_MS, 99) }],
    ['the partner', { partner: 'another' as PartnerId }],
    ['the wallet', { wallet: OTHER }],
    ['the points', { points: 1n }],
    ['its day', { initialAtMs: 1 }],
    ['the end of its quote', { quoteExpiresAtMs: 1 }],
    ['the amount', { tokenAmount: 1n }],
    ['the decimals', { tokenDecimals: 6 }],
    ['the partner’s answer', { partnerTransactionId: 'tx-2' }],
    ['the version', { version: 9 }],
    ['the state', { state: 'deducting' }],
    ['what is unproven', { unprovenAttempts: 7 }],
  ])('before a plan changes with %s', (_, change) => {
    const row = aRedemption('deducted');
    expect(contentOf({ ...row, ...change })).not.toBe(contentOf(row));
  });

  it.each<[string, Partial<Redemption>, Partial<typeof PLACE>]>([
    ['the recipient', { plan: aPlan({ recipient: OTHER }) }, {}],
    ['the amount', { plan: aPlan({ amount: 1n }) }, {}],
    ['the deadline', { plan: aPlan({ deadlineSeconds: 1 }) }, {}],
    ['the points', { points: 1n }, {}],
    ['the partner’s answer', { partnerTransactionId: 'tx-2' }, {}],
    ['the vault', {}, { vault: OTHER }],
    ['the chain', {}, { chainId: 2 }],
    ['the first block', {}, { fromBlock: 6n }],
  ])('with a plan changes with %s', (_, change, place) => {
    const row = aRedemption('authorised');
    const changed = evidenceContent({ ...row, ...change }, { ...PLACE, ...place });
    expect(changed).not.toBe(contentOf(row));
  });

  it('is nothing for a plan without its vault', () => {
    expect(evidenceContent(aRedemption('authorised'), null)).toBeUndefined();
  });

  it('with a plan stays the same when an operator lets it be watched on', () => {
    const row = aRedemption('authorised');
    expect(contentOf({ ...row, state: 'attention', version: row.version + 1 })).toBe(
      contentOf(row),
    );
  });
});

describe('the content of the MAC of a deduction’s names', () => {
  const named = { ...aRedemption('reverting'), partnerTransactionId: 'tx-1' };

  it('is there if there is a candidate alone', () => {
    const change = { partnerTransactionId: null, candidateTransactionIds: ['tx-2'] };
    expect(transactionIdsContent({ ...named, ...change })).toContain('"tx-2"');
  });

  it('is needed by the next revert', () => {
    expect(sendsTransactionIds(aRedemption('reverting', { openCall: null }))).toBe(true);
    expect(sendsTransactionIds(aRedemption('reverting'))).toBe(false);
    expect(sendsTransactionIds(aRedemption('deducting', { openCall: null }))).toBe(false);
  });

  it('is nothing where nothing is named', () => {
    const nameless = { partnerTransactionId: null, candidateTransactionIds: [] };
    expect(transactionIdsContent({ ...named, ...nameless })).toBeUndefined();
  });

  it.each<[string, Partial<Redemption>]>([
    ['the id', { id: aUuid(START_MS, 99) }],
    ['the partner', { partner: 'another' as PartnerId }],
    ['the wallet', { wallet: OTHER }],
    ['the points', { points: 1n }],
    ['the transaction', { partnerTransactionId: 'TX-1' }],
    ['the candidates', { candidateTransactionIds: ['tx-2'] }],
  ])('changes with %s', (_, change) => {
    expect(transactionIdsContent({ ...named, ...change })).not.toBe(transactionIdsContent(named));
  });

  it('stays the same in every state and version', () => {
    const later = { ...named, state: 'attention', version: 9 } as const;
    expect(transactionIdsContent(later)).toBe(transactionIdsContent(named));
  });
});

it('has a kind for each use, so that the MAC of one is not that of another', () => {
  const session = { tokenHash: 'ab', wallet: WALLET, domain: 'app.example', expiresAtMs: START_MS };
  const kinds = [
    contentOf(aRedemption('deducted')),
    contentOf(aRedemption('authorised')),
    transactionIdsContent(aRedemption('reverting')),
    sessionContent(session),
  ].map((text) => (JSON.parse(text ?? '') as { kind: unknown }).kind);
  expect(kinds).toEqual([
    'lowmark-row-1',
    'lowmark-plan-1',
    'lowmark-names-1',
    'lowmark-session-1',
  ]);
  expect(JSON.parse(sessionContent(session))).toMatchObject(session);
});
