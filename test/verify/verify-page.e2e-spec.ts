/** Runs the commands of docs/partners/verify.md as a reader does. Needs a build. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { dayText } from '#libs/domain';
import { aWallet } from '#libs/testing';
import { addPartner, startApi } from '../../apps/api/src/testing/api-harness.support.js';
import { VERIFY_BLOCKS } from '../partner-docs/partner-blocks.js';
import { InstalledVerify } from './installed-verify.js';
import { ends, VerifySuite } from './verify-suite.js';

const suite = new VerifySuite();
let verify: InstalledVerify;

beforeAll(async () => {
  verify = await InstalledVerify.install();
});
afterAll(() => {
  verify.remove();
});

it('the commands of the page agree', async () => {
  const { days } = await suite.twoSealedDays();
  const [, last] = ends(days);
  const { rpc, contracts } = suite.chain;
  const REGISTRY = await suite.publishedRegistry(last);
  const line = { walletAddress: aWallet(0x1001), low: '60' };
  await writeFile(join(verify.project, 'wallets.ndjson'), `${JSON.stringify(line)}\n`);
  const api = await startApi({ REQUEST_LOG: '0' }, suite.database);
  try {
    const { apiKey, sharedSecret } = await addPartner(api, 'reader');
    const variables = {
      ...{ LOWMARK_RPC_URL: rpc.url, LOWMARK_API_KEY: apiKey, LOWMARK_SHARED_SECRET: sharedSecret },
      ...{ STAKE_CONTRACT: contracts.staking, FIRST_BLOCK: String(contracts.startBlock) },
      ...{ DAY: dayText(last.day), STAKING_URL: api.url, REGISTRY, ROOT: last.root },
    };
    const said: string[] = [];
    const [get, ...commands] = VERIFY_BLOCKS;
    const got = await verify.type(get?.code ?? '', variables);
    expect(got).toMatchObject({ status: 0, out: expect.stringContaining('added @lowmark/verify') });
    for (const { code } of commands) {
      const { status, out, err } = await verify.type(code, variables);
      // Progress is written to standard error.
      expect({ code, status, err }).toEqual({ code, status: 0, err: expect.any(String) });
      said.push(out);
    }
    expect(said).toEqual([
      expect.stringContaining('AGREES with the api'),
      expect.stringContaining('AGREES with the registry'),
      expect.stringContaining('"result": "agrees"'),
    ]);
  } finally {
    await api.stop();
  }
});
