/**
 * Tests the installed program with a real chain, a real index, real sealed days and a real api, and the commands of
 * docs/partners/verify.md as a reader runs them. Needs a build.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayText } from '#libs/domain';
import { type MintedCredential } from '#libs/signing';
import { aWallet } from '#libs/testing/database';
import { testSeeds } from '#libs/testing/seeds';
import { addPartner, type Api, startApi } from '../../apps/api/src/testing/api-harness.support.js';
import { DAY, MIDNIGHT } from '../../apps/indexer/test/seal-suite.js';
import { VERIFY_BLOCKS } from '../partner-docs/partner-blocks.js';
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

/** Runs the api on the database of the test's index, with a partner. */
async function withApi(
  work: (api: Api, partner: MintedCredential) => Promise<void>,
): Promise<void> {
  const api = await startApi({ REQUEST_LOG: '0' }, suite.database);
  // The program compares the time of a list with the clock of the system.
  api.clock.set(Date.now());
  try {
    await work(api, await addPartner(api, 'verify'));
  } finally {
    await api.stop();
  }
}

const credentials = ({ apiKey, sharedSecret }: MintedCredential): Record<string, string> => ({
  LOWMARK_API_KEY: apiKey,
  LOWMARK_SHARED_SECRET: sharedSecret,
});

describe('with the api', () => {
  it.each(testSeeds().slice(-1))(
    'agrees on every sealed day of a history, with $which',
    async ({ seed }) => {
      const { days } = await suite.sealedHistory(seed);
      expect(days.length).toBeGreaterThan(5);
      await withApi(async ({ url }, partner) => {
        const args = [...suite.chainArgs(...ends(days)), '--api', url];
        const done = await verify.run([...args, '--json'], credentials(partner));
        const report = reportOf(done);
        expect(report).toMatchObject({ result: 'agrees' });
        const signedBy = await keyIdOf(url);
        expect(report.days).toEqual(
          days.map((day) => ({
            day: dayText(day.day),
            ...{ root: day.root, wallets: day.wallets, total: String(day.total) },
            lastBlock: { number: Number(day.blockNumber), hash: day.blockHash },
            result: 'agrees',
            comparisons: [{ with: 'api', result: 'agrees', root: day.root, revision: 1, signedBy }],
          })),
        );
        expect(done.status).toBe(0);
      });
    },
  );

  it('names wallet and day where one row of the database was changed', async () => {
    const { bench, days } = await suite.twoSealedDays();
    const { root, previousRoot } = await suite.revised(bench, 33n);
    await withApi(async ({ url }, partner) => {
      const args = [...suite.chainArgs(...ends(days)), '--api', url];
      const { status, out } = await verify.run(args, credentials(partner));
      const [first, second] = out.split(/^(?=\d{4}-)/m);
      expect(first).toContain(`${dayText(MIDNIGHT / DAY - 1)}  by the chain`);
      expect(first).toContain('AGREES with the api');
      expect(second).toContain(`${dayText(MIDNIGHT / DAY)}  by the chain`);
      expect(second).toContain(
        `DIFFERS from the api (revision 2; the root before was ${previousRoot}): its root is ${root}, signed by key ${await keyIdOf(url)}; wallet ${aWallet(0x1001)} kept 60 by the chain, 33 by the api`,
      );
      expect(status).toBe(1);
      // Without the secret the program uses proofs, since lists are signed with the secret.
      const bare = await verify.run(args, { LOWMARK_API_KEY: partner.apiKey });
      expect(bare).toMatchObject({ status, out });
    });
  });

  it('names the wallet by proofs where the list is not kept', async () => {
    const { bench, days } = await suite.twoSealedDays({ keptDays: 0 });
    await suite.revised(bench, 33n);
    await withApi(async ({ url }, partner) => {
      const args = [...suite.chainArgs(ends(days)[1]), '--api', url];
      const { status, out } = await verify.run(args, credentials(partner));
      expect(out).toContain(`wallet ${aWallet(0x1001)} kept 60 by the chain, 33 by the api`);
      expect(status).toBe(1);
    });
  });

  it('names a wallet that the index lost, and says so as JSON', async () => {
    const { bench, days } = await suite.twoSealedDays();
    const [, day] = ends(days);
    await suite.revised(bench, 0n);
    await withApi(async ({ url }, partner) => {
      const args = [...suite.chainArgs(day), '--api', url, '--json'];
      const done = await verify.run(args, credentials(partner));
      expect(reportOf(done).days[0]?.comparisons).toMatchObject([
        {
          result: 'differs',
          difference: { wallet: aWallet(0x1001), chain: '60', listed: '0' },
        },
      ]);
      expect(done.status).toBe(1);
    });
  });

  it(
    'takes only signed answers, needs no secret, and shows none',
    async () => {
      const { days } = await suite.twoSealedDays();
      const args = suite.chainArgs(...ends(days));
      await withApi(async ({ url }, partner) => {
        const { apiKey } = partner;
        const { keys } = await keySet(url);
        for (const shown of [{ keys: [{ ...keys[0], x: 'A'.repeat(43) }] }, { keys: 1 }, null]) {
          const proxy = await proxyOf(url, JSON.stringify(shown));
          try {
            const { status, out } = await verify.run(
              [...args, '--api', proxy.url],
              credentials(partner),
            );
            expect(out).toContain('NOT CHECKED against the api: its answer is not signed by a key');
            expect(status).toBe(2);
          } finally {
            await proxy.close();
          }
        }

        // The public keys vouch for each answer.
        const one = [...suite.chainArgs(ends(days)[0]), '--api', url];
        const agreed = await verify.run(one, { LOWMARK_API_KEY: apiKey });
        expect(agreed.out).toContain(`AGREES with the api, signed by key ${await keyIdOf(url)}`);
        expect(agreed.status).toBe(0);
        const none = await verify.run(one, { LOWMARK_API_KEY: '' });
        expect(none.err).toContain('--api-key-file or LOWMARK_API_KEY is missing');

        const another = { LOWMARK_API_KEY: apiKey, LOWMARK_SHARED_SECRET: 'svcs_of_another' };
        const { status, out, err } = await verify.run([...args, '--api', url], another);
        expect(out).toContain(
          'NOT CHECKED against the api: The answer with status 200 is not signed',
        );
        expect(out + err).not.toContain('svcs_of_another');
        expect(out + err).not.toContain(apiKey);
        expect(status).toBe(2);

        const wrong = await verify.run([...args, '--api', url], { LOWMARK_API_KEY: 'svck_wrong' });
        expect(wrong).toMatchObject({ status: 2, out: '' });
        expect(wrong.err).toContain('does not take the API key');
        expect(wrong.err).not.toContain('svck_wrong');
      });
      const gone = await verify.run([...args, '--api', 'http://127.0.0.1:1'], {
        LOWMARK_API_KEY: 'svck_1',
      });
      expect(gone).toEqual({ status: 2, out: '', err: 'The api cannot be reached: see --api.\n' });
    },
    LIMIT_MS,
  );

  it('says of a day that is not sealed what the api says', async () => {
    const { days } = await suite.twoSealedDays();
    const [, last] = ends(days);
    await suite.chain.player.block(MIDNIGHT + 3 * DAY);
    await withApi(async ({ url }, partner) => {
      const args = [...suite.chainArgs({ ...last, day: last.day + 1 }), '--api', url];
      const { status, out } = await verify.run(args, credentials(partner));
      expect(out).toContain('NOT CHECKED against the api: DAY_NOT_SEALED: ');
      expect(status).toBe(2);
    });
  });
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

it('the commands of the page agree', async () => {
  const { days } = await suite.twoSealedDays();
  const [, last] = ends(days);
  const { rpc, contracts } = suite.chain;
  const REGISTRY = await suite.publishedRegistry(last);
  const line = { walletAddress: aWallet(0x1001), low: '60' };
  await writeFile(join(verify.project, 'wallets.ndjson'), `${JSON.stringify(line)}\n`);
  await withApi(async ({ url }, partner) => {
    const variables = {
      ...{ LOWMARK_RPC_URL: rpc.url, ...credentials(partner) },
      ...{ STAKE_CONTRACT: contracts.staking, FIRST_BLOCK: String(contracts.startBlock) },
      ...{ DAY: dayText(last.day), STAKING_URL: url, REGISTRY, ROOT: last.root },
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
  });
});

const KEYS = '/.well-known/http-message-signatures-directory';

async function keySet(url: string): Promise<{ keys: { kid: string }[] }> {
  return (await (await fetch(url + KEYS)).json()) as { keys: { kid: string }[] };
}

const keyIdOf = async (url: string): Promise<string> => (await keySet(url)).keys[0]?.kid ?? '';

/** A proxy in front of the api that returns other public keys. */
async function proxyOf(
  target: string,
  keys: string,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    void (async () => {
      if (request.url === KEYS) return response.end(keys);
      const headers = new Headers(request.headers as Record<string, string>);
      for (const name of ['host', 'connection']) headers.delete(name);
      const answer = await fetch(target + (request.url ?? ''), { headers });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      return response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

function listOf(lows: readonly [number, bigint][]): string {
  const lines = lows.map(([number, low]) => ({ walletAddress: aWallet(number), low: String(low) }));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
