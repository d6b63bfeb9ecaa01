import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { type RpcPool } from '#libs/chain';
import { RetryableError } from '#libs/domain';
import { createLogger } from '#libs/service';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type RedemptionSettings } from '../redemption.env.js';
import { ChainFacts } from './chain-facts.js';
import { type ChainLink } from './chain-link.js';

it('the node is asked once a minute, and ten seconds after it did not answer', async () => {
  const node = { asked: 0, isAway: false };
  const block = (timestampSeconds: number) => ({ timestampSeconds });
  const token = { endpoint: 'node', value: { symbol: 'LOW', decimals: 18 } };
  const answer = { latest: block(100), finalised: block(88), ...token };
  const pool = {
    endpoints: [token.endpoint],
    run: () => {
      node.asked += 1;
      const away = new RetryableError('NODE_AWAY', 'the node is away');
      return node.isAway ? Promise.reject(away) : Promise.resolve(answer);
    },
  } as unknown as RpcPool;
  const settings = { finality: 'finalized', tokenContract: aWallet(1) } as RedemptionSettings;
  const link = { tokenDecimals: 18 } as ChainLink;
  const clock = new FakeClock(1_000_000);
  const logger = createLogger({ app: 'redemption', level: 'silent' });
  const facts = new ChainFacts(settings, link, undefined as never, pool, clock, logger);
  const askedAfter = async (ms: number): Promise<number> => {
    clock.advance(ms);
    expect(await facts.finalitySeconds()).toBe(12);
    await setImmediate();
    return node.asked;
  };
  const first = await askedAfter(0);
  expect(await askedAfter(59_999)).toBe(first);
  node.isAway = true;
  expect(await askedAfter(1)).toBe(first + 1);
  expect(await askedAfter(9_999)).toBe(first + 1);
  expect(await askedAfter(1)).toBe(first + 2);
});
