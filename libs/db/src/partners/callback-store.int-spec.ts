import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseDecimal, type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aNewCredential, aPartnerId } from '#libs/testing/partner';
import {
  type CallbackSettings,
  CallbackStore,
  DatabaseRefusedError,
  PartnerMissingError,
  PartnerStore,
  PartnerUnknownError,
} from '../index.js';

let test: TestDatabase;
let callbacks: CallbackStore;
let partnerId: PartnerId;

beforeAll(async () => {
  test = await createTestDatabase();
  const database = await test.open();
  callbacks = new CallbackStore(database);
  const partner = { name: 'Acme', rate: 20, burst: 100, credential: aNewCredential() };
  ({ partnerId } = await new PartnerStore(database).create(partner));
});
afterAll(() => test.drop());

function someSettings(change: Partial<CallbackSettings> = {}): CallbackSettings {
  return {
    url: 'https://game.example/svc',
    key: 'their-key',
    secretCiphertext: Buffer.from('sealed'),
    usdPerPoint: parseDecimal('0.010'),
    confirms: true,
    capabilities: [],
    ...change,
  };
}

const ALL = someSettings({
  bonus: { fromPoints: 5000n, rate: parseDecimal('0.02') },
  minPoints: 10n,
  maxPoints: 100_000n,
  dailyTokenBudget: parseDecimal('1000.5'),
  confirms: false,
  capabilities: ['tombstones', 'revert-by-redemption-id'],
});

describe('CallbackStore', () => {
  it('notes the values that a change replaces in its audit row, but neither key nor secret', async () => {
    await callbacks.change(partnerId, () => ALL);
    const audit = {
      actor: 'operator:ann',
      note: { command: 'partner set', arguments: { rate: 30 }, outcome: 'done' },
    };
    const dailyTokenBudget = parseDecimal('300000');
    const merge = () =>
      someSettings({ ...ALL, key: 'new-key', bonus: undefined, dailyTokenBudget });
    await callbacks.change(partnerId, merge, { terms: { rate: 30 }, audit });
    const database = await test.open();
    const newest = async () => {
      const { rows } = await database.pool.query<{ arguments: object }>(
        'SELECT arguments FROM redemption.audit ORDER BY id DESC LIMIT 1',
      );
      return rows[0]?.arguments;
    };
    expect(await newest()).toEqual({
      rate: 30,
      before: {
        rate: 20,
        bonus: { fromPoints: '5000', rate: '0.02' },
        dailyTokenBudget: '1000.5',
      },
    });
    await new PartnerStore(database).setTerms(partnerId, { rate: 20 }, audit);
    expect(await newest()).toEqual({ rate: 30, before: { rate: 30 } });
  });

  it('keeps what was set, replaces all of it, and leaves a pause as it is', async () => {
    const named = { partnerId, partnerName: 'Acme' };
    await callbacks.change(partnerId, () => ALL);
    expect(await callbacks.find(partnerId)).toEqual({ ...ALL, ...named, paused: false });
    await callbacks.pause(partnerId, true);
    await callbacks.change(partnerId, () => someSettings());
    const expected = { ...someSettings(), ...named, paused: true };
    expect(await callbacks.find(partnerId)).toEqual(expected);
    expect(await callbacks.list()).toEqual([expected]);
  });

  it('says that a partner is not there', async () => {
    await expect(callbacks.pause(aPartnerId(), true)).rejects.toThrow(PartnerMissingError);
    expect(await callbacks.find(aPartnerId())).toBeUndefined();
  });

  it('changes what is set by what is set, one change after the other, or not at all', async () => {
    await callbacks.change(partnerId, () => someSettings({ minPoints: 1n }));
    const grow = () =>
      callbacks.change(partnerId, (before) => ({
        ...someSettings(before),
        minPoints: (before?.minPoints ?? 0n) + 1n,
      }));
    await Promise.all(Array.from({ length: 5 }, grow));
    expect((await callbacks.find(partnerId))?.minPoints).toBe(6n);
    const before = await callbacks.find(partnerId);
    const fails = () => {
      throw new Error('merge');
    };
    await expect(callbacks.change(partnerId, fails)).rejects.toThrow('merge');
    await expect(callbacks.change(aPartnerId(), fails)).rejects.toThrow(PartnerUnknownError);
    expect(await callbacks.find(partnerId)).toEqual(before);
  });

  it.each<[string, Partial<CallbackSettings>]>([
    ['a URL of another kind', { url: 'ftp://game.example' }],
    ['no key', { key: '' }],
    ['points that are worth nothing', { usdPerPoint: parseDecimal('0') }],
    ['a negative bonus', { bonus: { fromPoints: 1n, rate: parseDecimal('-0.1') } }],
    ['limits that contradict each other', { minPoints: 10n, maxPoints: 9n }],
    ['a negative budget', { dailyTokenBudget: parseDecimal('-1') }],
    ['a capability that does not exist', { capabilities: ['telepathy' as never] }],
  ])('refuses %s', async (_, wrong) => {
    await expect(callbacks.change(partnerId, () => someSettings(wrong))).rejects.toThrow(
      DatabaseRefusedError,
    );
  });
});
