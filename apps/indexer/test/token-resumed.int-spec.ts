/** The token's own data, read when an existing index is resumed. */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type FaultyNode, startFaultyNode } from '#libs/testing';
import { lie } from './lies.js';
import { IndexerSuite } from './suite.js';

const suite = new IndexerSuite();

let nodes: [FaultyNode, FaultyNode];

beforeEach(async () => {
  const upstream = suite.chain.rpc.url;
  nodes = [await startFaultyNode({ upstream }), await startFaultyNode({ upstream })];
});
afterEach(() => Promise.all(nodes.map((node) => node.close())));

const SIX_DECIMALS = lie(({ method, params }) =>
  method === 'eth_call' && (params[0] as Record<string, unknown>)['data'] === '0x313ce567'
    ? `0x${'6'.padStart(64, '0')}`
    : undefined,
);

it('is compared between two providers again', async () => {
  const [one, other] = nodes;
  const urls = [one.url, other.url];
  const first = await suite.start({ urls });
  await first.level();
  await first.stop();
  other.fault = SIX_DECIMALS;
  const resumed = await suite.start({ urls });
  await expect(resumed.running).rejects.toMatchObject({ code: 'TOKEN_DISPUTED' });
});

it('is compared with what the index was made with', async () => {
  const [one, other] = nodes;
  one.fault = SIX_DECIMALS;
  const first = await suite.start({ urls: [one.url] });
  await first.level();
  await first.stop();
  const resumed = await suite.start({ urls: [other.url] });
  await expect(resumed.running).rejects.toMatchObject({
    code: 'TOKEN_CHANGED',
    message: expect.stringMatching(/made with 6 decimals.* 18/),
  });
});

it('lets an index that agrees go on', async () => {
  const urls = nodes.map(({ url }) => url);
  const first = await suite.start({ urls });
  await first.level();
  await first.stop();
  await (await suite.start({ urls })).level();
});
