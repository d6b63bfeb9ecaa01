/** Tests the installed program with a real chain and the days that an index has sealed. Needs a build. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aWallet } from '#libs/testing/database';
import { InstalledVerify } from './installed-verify.js';
import { LimitedNode } from './limited-node.js';
import { ends, reportOf, VerifySuite } from './verify-suite.js';

/** Several runs of the program. */
const LIMIT_MS = 180_000;

const suite = new VerifySuite();
let verify: InstalledVerify;

beforeAll(async () => {
  verify = await InstalledVerify.install();
});
afterAll(() => {
  verify.remove();
});

describe('without the api', () => {
  it('compares with the registry, with a root and with a list', async () => {
    const { days } = await suite.twoSealedDays();
    const [first, last] = ends(days);
    const registry = await suite.publishedRegistry(last);
    const list = join(verify.folder, 'list.ndjson');
    await writeFile(list, listOf([[0x1001, 60n]]));
    const also = ['--registry', registry, '--root', last.root.toUpperCase().replace('X', 'x')];
    const done = await verify.run([...suite.chainArgs(last), ...also, '--list', list]);
    expect(done.out).toContain('AGREES with the registry');
    expect(done.out).toContain('AGREES with the root that was given');
    expect(done.out).toContain('AGREES with the list');
    expect(done.status).toBe(0);
    const unpublished = await verify.run([...suite.chainArgs(first), '--registry', registry]);
    expect(unpublished.out).toContain(
      'NOT CHECKED against the registry: it has no root of the day',
    );
    expect(unpublished.status).toBe(2);
  });

  it('names the wallet by a list, and says where it cannot', async () => {
    const { days } = await suite.twoSealedDays();
    const [first, last] = ends(days);
    const registry = await suite.publishedRegistry({ ...last, root: first.root });
    const args = [...suite.chainArgs(last), '--registry', registry];
    const unnamed = await verify.run(args);
    expect(unnamed.out).toContain(
      `DIFFERS from the registry: its root is ${first.root}; give --api or --list`,
    );
    expect(unnamed.status).toBe(1);
    const list = join(verify.folder, 'list.ndjson');
    await writeFile(
      list,
      listOf([
        [0x1000, 5n],
        [0x1001, 60n],
      ]),
    );
    const named = await verify.run([...args, '--list', list]);
    expect(named.out).toContain(`wallet ${aWallet(0x1000)} kept 0 by the chain, 5 by the registry`);
    expect(named.status).toBe(1);
  });

  it(
    'compares with nothing else, and says why',
    async () => {
      const { days } = await suite.twoSealedDays();
      const [, last] = ends(days);
      const list = join(verify.folder, 'list.ndjson');
      const wrong = [
        ['{"walletAddress":"0x1","low":"1"}\n', 'line 1 is not'],
        [
          listOf([
            [0x1001, 60n],
            [0x1000, 1n],
          ]),
          'The list is not ascending',
        ],
        ['x'.repeat(70_000), 'is too long'],
        ['null\n', 'line 1 is not'],
      ] as const;
      for (const [text, message] of wrong) {
        await writeFile(list, text);
        const { status, out } = await verify.run([...suite.chainArgs(last), '--list', list]);
        expect(out).toContain(`NOT CHECKED against the list: `);
        expect(out).toContain(message);
        expect(status).toBe(2);
      }
      const { staking } = suite.chain.contracts;
      const another = await verify.run([...suite.chainArgs(last), '--registry', staking]);
      expect(another.out).toContain(
        `NOT CHECKED against the registry: The node at ${new URL(suite.chain.rpc.url).host} does not tell the root of the registry ${staking}`,
      );
      expect(another.status).toBe(2);
      const bare = await verify.run(suite.chainArgs(...ends(days)));
      expect(bare.out).toContain(`root ${last.root}`);
      expect(bare.err).toContain('There is nothing to compare with');
      expect(bare.status).toBe(2);
    },
    LIMIT_MS,
  );
});

describe('a registry of another contract', () => {
  it('is named, and nothing is said to differ', async () => {
    const { days } = await suite.twoSealedDays();
    const [, last] = ends(days);
    const registry = await suite.publishedRegistry(last);
    const other = aWallet(0x99);
    const args = suite
      .chainArgs(last)
      .map((one) =>
        one.toLowerCase() === suite.chain.contracts.staking.toLowerCase() ? other : one,
      );
    const done = await verify.run([...args, '--registry', registry]);
    expect(done).toMatchObject({ status: 2, out: '' });
    const staking = suite.chain.contracts.staking.toLowerCase();
    expect(done.err).toContain(`This registry is of ${staking}, and not of ${other}`);
  });
});

describe('the node', () => {
  it('may answer few blocks at once, and ask for patience', async () => {
    const { days } = await suite.sealedHistory(5);
    const [first, last] = ends(days);
    const limited = await new LimitedNode(suite.chain.rpc.url, 7).listen();
    try {
      const [, , ...others] = suite.chainArgs(first, last);
      const environment = { LOWMARK_RPC_URL: limited.url };
      const done = await verify.run([...others, '--root', first.root, '--json'], environment);
      // A root can be compared for a single day only.
      expect(done).toMatchObject({ status: 2, out: '', err: '--root is of one day.\n' });
      const whole = reportOf(await verify.run([...others, '--json'], environment));
      expect(whole.days.map(({ root }) => root)).toEqual(days.map(({ root }) => root));
      expect(Math.max(...limited.asked)).toBeGreaterThan(7);
      expect(limited.asked.filter((blocks) => blocks <= 7).length).toBeGreaterThan(5);
    } finally {
      await limited.close();
    }
  });

  it('is named without its key where it does not answer', async () => {
    const { days } = await suite.twoSealedDays();
    const [, , ...others] = suite.chainArgs(ends(days)[1]);
    for (const url of ['127.0.0.1:1/v2/secret-key', 'user:secret-key@127.0.0.1:1']) {
      const environment = { LOWMARK_RPC_URL: `http://${url}` };
      const { status, out, err } = await verify.run(others, environment);
      expect(err).toContain('The node at 127.0.0.1:1 does not tell the chain id: ');
      expect(out + err).not.toContain('secret-key');
      expect(status).toBe(2);
    }
  });

  it(
    'is not asked in vain',
    async () => {
      const { days } = await suite.twoSealedDays();
      const [, last] = ends(days);
      const vain = [
        [suite.chainArgs({ ...last, day: last.day + 1 }), 'is not over on the chain'],
        [
          [...suite.chainArgs(last), '--from-block', '9'],
          'Block 9, from which the chain is read, is dated after',
        ],
        [[...suite.chainArgs(last), '--events', 'masterchef-v1'], 'needs the number of the pool'],
        [[...suite.chainArgs(last), '--events', 'none.json'], 'neither a preset'],
      ] as const;
      for (const [args, message] of vain) {
        const { status, err } = await verify.run(args);
        expect(err).toContain(message);
        expect(status).toBe(2);
      }
    },
    LIMIT_MS,
  );
});

describe('the package', () => {
  it('has the program, a page to read, and nothing else', () => {
    expect([...verify.packed].sort()).toEqual([
      'README.md',
      'dist/lowmark-verify.js',
      'package.json',
    ]);
  });

  it.each([process.execPath, '/usr/bin/node'].filter((node) => existsSync(node)))(
    'helps, and refuses what it does not know, on %s',
    async (node) => {
      const help = await verify.run(['--help'], {}, node);
      expect(help).toMatchObject({
        status: 0,
        out: expect.stringContaining('Usage: lowmark-verify'),
      });
      for (const args of [[], ['--api-key', 'svck_1'], ['svcs_1'], ['--day', '2026-02-30']]) {
        const { status, out, err } = await verify.run(args, {}, node);
        expect({ status, out }).toEqual({ status: 2, out: '' });
        expect(err).not.toMatch(/svc[ks]_1/);
      }
    },
  );
});

function listOf(lows: readonly [number, bigint][]): string {
  const lines = lows.map(([number, low]) => ({ walletAddress: aWallet(number), low: String(low) }));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
