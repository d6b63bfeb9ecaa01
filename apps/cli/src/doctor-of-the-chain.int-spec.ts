import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addressOfKey, VoucherSigner } from '#libs/chain';
import { PublicationStore } from '#libs/db';
import { type NodeHash, ZERO_ADDRESS } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { TestRegistry } from '#libs/testing/registry';
import { VaultBench } from '#libs/testing/vault';
import { type Ran } from './testing/cli-bench.support.js';
import { stakesOf, stakesWith } from './testing/stakes-of.support.js';
import { DoctorBench, URL_KEY } from './testing/doctor-bench.support.js';

let bench: DoctorBench;
beforeAll(async () => {
  bench = await DoctorBench.start();
});
afterAll(() => bench.stop());

describe('an endpoint', () => {
  let node: FaultyNode;
  beforeEach(async () => {
    node = await startFaultyNode({ upstream: bench.vault.chain.url });
  });
  afterEach(() => node.close());
  const through = (): Record<string, string> => ({ RPC_URLS: `${node.url}/?key=${URL_KEY}` });

  it('of another chain', async () => {
    node.fault = { kind: 'chain-id', chainId: 5 };
    const { code, out } = await bench.run(through());
    expect(code).toBe(1);
    expect(out).toMatch(/FAULT +rpc \S+#1 +serves chain 5, and CHAIN_ID is \d+/);
    expect(out).toMatch(/- +vault +not checked: no endpoint of the right chain answers/);
  });

  it('whose host name holds a key: the key is not said', async () => {
    const { out, err } = await bench.run({ RPC_URLS: `https://${URL_KEY}.matic.rpc.invalid/` });
    expect(out).toMatch(/FAULT +rpc rpc\.invalid#1 /);
    expect(out + err).not.toContain(URL_KEY);
  });

  it('that is dead beside one that is well: the second is used', async () => {
    const { code, out } = await bench.run({
      RPC_URLS: `http://127.0.0.1:1/?key=${URL_KEY},${bench.vault.chain.url}`,
    });
    expect(code).toBe(1);
    expect(out).toMatch(/FAULT +rpc 127\.0\.0\.1:1#1 /);
    expect(out).toMatch(/ok +rpc 127\.0\.0\.1:\d+#2 +answers/);
    expect(out).toMatch(/ok +vault: signer/);
  });

  it.each([
    [{ kind: 'range-limit', blocks: 10 }, 'rpc node#1: logs', 'of 10 blocks at once'],
    [{ kind: 'no-method', method: 'eth_getLogs' }, 'rpc node#1: logs', 'not even of one block'],
    [
      [{ kind: 'empty-logs' }, { kind: 'result', method: 'eth_getBlockReceipts', result: [] }],
      'rpc node#1: old logs',
      'pruned, and answered with an empty list',
    ],
    [{ kind: 'pruned' }, 'rpc node#1: state', 'none: '],
    [{ kind: 'status', status: 401 }, 'rpc node#1', ''],
  ] as const)('with %j', async (fault, what, found) => {
    node.fault = fault;
    const seen = await bench.finding(what, through());
    expect(seen).toMatchObject({ what: expect.stringContaining('#1'), mend: expect.any(String) });
    expect(seen.state).toMatch(/warning|fault/);
    expect(seen.found).toContain(found);
  });

  it('without final blocks', async () => {
    node.fault = {
      kind: 'result',
      method: 'eth_getBlockByNumber',
      result: null,
      times: 1,
      when: (calls) => JSON.stringify(calls).includes('finalized'),
    };
    const seen = await bench.finding('rpc node#1: finality', through());
    expect(seen).toMatchObject({ state: 'fault', mend: expect.stringContaining('FINALITY=depth') });
  });
});

describe('an endpoint that is busy', () => {
  const TOO_MANY = { kind: 'error', code: 429, message: 'Too Many Requests' } as const;
  const METHODS = ['eth_getCode', 'eth_getBlockByNumber', 'eth_call', 'eth_getLogs'];
  const CASES: readonly (readonly [string, Fault])[] = [
    ['all the time, by 429', { kind: 'status', status: 429, retryAfter: 60 }],
    ['all the time, by 503', { kind: 'status', status: 503 }],
    ...METHODS.map((method) => [`for ${method} only`, { ...TOO_MANY, method }] as const),
  ];
  let ran: Ran[];
  // The doctor waits some seconds for each of these faults, so the cases run concurrently.
  beforeAll(async () => {
    ran = await Promise.all(CASES.map(([, fault]) => runWith(fault)));
  });

  async function runWith(fault: Fault): Promise<Ran> {
    const node = await startFaultyNode({ upstream: bench.vault.chain.url, fault });
    try {
      return await bench.run({ RPC_URLS: `${node.url}/?key=${URL_KEY}` });
    } finally {
      await node.close();
    }
  }

  it.each(CASES.map(([when], index) => [when, index] as const))(
    '%s: nothing is blamed',
    (when, index) => {
      const { code, out } = ran[index] ?? {};
      expect(out).not.toMatch(/FAULT|FINALITY=depth/);
      expect(out).toContain('not checked: busy (rate limited)');
      if (!when.startsWith('all the time')) return;
      expect(out).not.toContain('Check');
      expect(out).toMatch(/^- +rpc \S+#1 +not checked: busy \(rate limited\).*#rps=/m);
      expect(code).toBe(0);
    },
  );

  it('for each third request is asked again', async () => {
    const requests = new Set<string>();
    // A request that is asked again is answered: by chance another limit would refuse it until the doctor gives up.
    const when = (calls: readonly unknown[]): boolean => {
      const { size } = requests;
      return requests.add(JSON.stringify(calls)).size > size && size % 3 === 2;
    };
    const { code, out } = await runWith({ kind: 'status', status: 429, retryAfter: 1, when });
    expect(out).not.toMatch(/FAULT|not checked: busy/);
    expect(out).toMatch(/ok +rpc \S+: finality/);
    expect(code).toBe(0);
  });
});

describe('contracts', () => {
  it('that are not there', async () => {
    const nowhere = { STAKE_CONTRACT: aWallet(0xf07), TOKEN_CONTRACT: aWallet(0xf08) };
    const { code, out } = await bench.run({ ...nowhere, VAULT_CONTRACT: aWallet(0xf09) });
    expect(code).toBe(1);
    expect(out).toMatch(/FAULT +staking contract +there is none at 0x(?:a11ce)+0+f07/);
    expect(out).toMatch(/FAULT +token /);
    expect(out).toMatch(/FAULT +vault +VAULT_CONTRACT: there is no contract at 0x(?:a11ce)+0+f09/);
  });

  it('whose first and newest blocks are the same: each event is counted once', async () => {
    const { found } = await bench.finding('staking contract: events');
    expect(found).toMatch(/^1 of the 1 in the newest blocks/);
  });

  it('whose events fulfil none of the conditions', async () => {
    const found = await bench.finding('staking contract: events', {
      STAKE_EVENTS: await stakesOf(7n),
    });
    expect(found).toMatchObject({ state: 'warning', mend: expect.stringContaining('a pool') });
    expect(found.found).toMatch(/^STAKE_EVENTS reads 1 of the 1 .* counts none of them$/);
    const other = { STAKE_EVENTS: await stakesOf(5n) };
    expect(await bench.finding('staking contract: events', other)).toMatchObject({ state: 'ok' });
  });

  it('whose events are others, or that were there before the first block', async () => {
    const other = await bench.finding('staking contract: events', {
      STAKE_EVENTS: 'stake-unstake',
    });
    expect(other).toMatchObject({ state: 'fault', code: 1 });
    const late = { STAKE_START_BLOCK: (bench.vault.chain.contracts.startBlock + 2n).toString() };
    const start = await bench.finding('staking contract: start', late);
    expect(start.found).toContain('was there before STAKE_START_BLOCK');
  });
});

describe('verification', () => {
  it.each<[string, object, Record<string, string>, string, number]>([
    ['wallets', { totalView: [] }, {}, 'ok', 0],
    ['none', { totalView: [], balanceView: [] }, { STAKE_VERIFICATION: 'none' }, 'warning', 0],
  ])('is %s with %j, %j', async (mode, views, ...[changes, state, code]) => {
    const STAKE_EVENTS = await stakesWith(views);
    const found = await bench.finding('verification', { STAKE_EVENTS, ...changes });
    expect(found).toMatchObject({ state, code });
    expect(found.found).toMatch(new RegExp(`^${mode}: .* It cannot find: `));
  });

  it('by a view that is set and reverts, beside one that is right, is a fault that names it', async () => {
    const found = await bench.finding('verification', {
      STAKE_EVENTS: await stakesWith({
        totalView: {
          function: 'function poolsDta(uint256) view returns (uint256)',
          arguments: { 0: 0 },
        },
      }),
    });
    expect(found).toMatchObject({ state: 'fault', code: 1 });
    expect(found.found).toMatch(/The view poolsDta\(uint256\) of 0x[0-9a-f]{40} reverts/);
  });

  it('comes with the least that a sync takes', async () => {
    const { staking, startBlock } = bench.vault.chain.contracts;
    const { found } = await bench.finding('verification: sync', {
      DATABASE_URL: '',
      STAKE_CONTRACT: staking,
      STAKE_START_BLOCK: startBlock.toString(),
    });
    expect(found).toMatch(
      /^\d+ blocks to read: at least \d+ eth_getLogs, \d+ eth_getBlockByNumber, \d+ eth_call; [\d,]+ compute units; \d+s$/,
    );
  });

  it('that cannot be had is a fault: the indexer does not start', async () => {
    const found = await bench.finding('verification', { STAKE_VERIFICATION: 'two' });
    expect(found).toMatchObject({ state: 'fault', code: 1 });
    expect(found.found).toContain('RPC_URLS names endpoints of one provider only');
  });

  it('by nothing is a fault with the remedies, unless it is set by name', async () => {
    const STAKE_EVENTS = await stakesWith({ totalView: [], balanceView: [] });
    const found = await bench.finding('verification', { STAKE_EVENTS });
    expect(found).toMatchObject({ state: 'fault', code: 1 });
    expect(found.found).toMatch(/RPC_URLS, .* totalView or balanceView .* STAKE_VERIFICATION=none/);
  });

  it('by a total of recent blocks only is a warning', async () => {
    const { chain } = bench.vault;
    const { staking, startBlock } = chain.contracts;
    const before = `0x${(startBlock - 1n).toString(16)}`;
    const { hash } = await chain.rpc.call<{ hash: string }>('eth_getBlockByNumber', before, false);
    const node = await startFaultyNode({
      upstream: chain.url,
      fault: {
        kind: 'error',
        method: 'eth_call',
        code: -32000,
        message: 'missing trie node 00 (path ) state is not available',
        when: (calls) => JSON.stringify(calls).includes(hash),
      },
    });
    const found = await bench.finding('verification', {
      RPC_URLS: node.url,
      DATABASE_URL: '',
      STAKE_CONTRACT: staking,
      STAKE_START_BLOCK: startBlock.toString(),
      STAKE_EVENTS: await stakesWith({ balanceView: [] }),
    });
    await node.close();
    expect(found).toMatchObject({ state: 'warning', code: 0 });
    expect(found.found).toContain('at recent blocks only');
    expect(found.mend).toContain('archive');
  });
});

describe('the vault', () => {
  /** What the doctor finds without a database, which no check of the vault needs. */
  const finding = (what: string, changes: Record<string, string> = {}) =>
    bench.finding(what, { DATABASE_URL: '', ...changes });

  it('whose keys hold no role', async () => {
    const { code, out } = await bench.run({ VOUCHER_SIGNER_KEY: VaultBench.OTHER_KEY });
    expect(code).toBe(1);
    expect(out).toMatch(/FAULT +vault: signer +0x[0-9a-f]{40}, the address of VOUCHER_SIGNER_KEY/);
    expect(out).toMatch(/WARNING +vault: canceller /);
  });

  it('that is paused and empty', async () => {
    const bare = await bench.vault.another({ funds: 0n });
    await bare.mine(bare.call(VaultBench.PAUSER, 'pause'));
    bench.vault.seconds = bare.seconds;
    const { out } = await bench.run({ VAULT_CONTRACT: bare.vault });
    expect(out).toMatch(/FAULT +vault: pause +it is paused/);
    expect(out).toMatch(/WARNING +vault: balance +it is empty/);
  });

  it('whose admin is a person, or nobody any more', async () => {
    const { admin } = bench.vault;
    const mine = await bench.vault.another({ adminDelaySeconds: 1 });
    const found = () => finding('vault: admin', { VAULT_CONTRACT: mine.vault });
    expect(await found()).toMatchObject({ state: 'ok', found: admin });
    await mine.mine(mine.call(admin, 'beginDefaultAdminTransfer', ZERO_ADDRESS));
    mine.seconds += 2;
    await mine.mine(mine.call(admin, 'renounceRole', `0x${'0'.repeat(64)}`, admin));
    bench.vault.seconds = mine.seconds;
    const renounced = await found();
    expect(renounced).toMatchObject({ state: 'warning', code: 0 });
    expect(renounced.found).toMatch(/^its admin is 0x0{40}, which has no holder: /);
  });

  it('whose signer is its canceller, and has no coin', async () => {
    const setup = { canceller: signer() };
    const mine = await bench.vault.another(setup);
    bench.vault.seconds = mine.seconds;
    await bench.vault.chain.rpc.call('anvil_setBalance', setup.canceller, '0x1');
    const found = await finding('vault: coin', { VAULT_CONTRACT: mine.vault });
    expect(found).toMatchObject({ state: 'warning' });
    const keys = await finding('vault: keys', { VAULT_CONTRACT: mine.vault });
    expect(keys).toMatchObject({ state: 'warning' });
    expect(keys.found).toContain('the key that cancels is the key that signs vouchers');
  });

  it('that pays vouchers for a shorter time than they live, or hardly a longer one', async () => {
    const mine = await bench.vault.another({ maxTtlSeconds: 1_800n });
    bench.vault.seconds = mine.seconds;
    const time = (ttl: string) =>
      finding('vault: time', { VAULT_CONTRACT: mine.vault, VOUCHER_TTL_SECONDS: ttl });
    const long = await time('1801');
    expect(long).toMatchObject({ state: 'fault', code: 1 });
    expect(long.found).toContain('VOUCHER_TTL_SECONDS: 1801 is longer than 1800');
    const near = await time('1501');
    expect(near).toMatchObject({ state: 'warning', code: 0 });
    expect(near.mend).toBe('Lower VOUCHER_TTL_SECONDS to 1500 or less.');
    expect(await time('1500')).toMatchObject({ state: 'ok' });
  });

  it('whose pauser is the signer, lacks the role, or has no coin', async () => {
    const pauser = (key: string, vault = bench.vault.vault) =>
      finding('vault: pauser', { VAULT_PAUSER_KEY: key, VAULT_CONTRACT: vault });
    expect(await finding('vault: pauser')).toMatchObject({ state: 'warning' });
    const same = await pauser(VaultBench.SIGNER_KEY);
    expect(same).toMatchObject({ state: 'fault', code: 1 });
    expect(same.found).toContain('is the key of VOUCHER_SIGNER_KEY');
    const stranger = await pauser(VaultBench.OTHER_KEY);
    expect(stranger).toMatchObject({ state: 'fault' });
    expect(stranger.found).toContain('does not hold PAUSER_ROLE');
    const mine = await bench.vault.another({ pauser: addressOfKey('44'.repeat(32)) });
    bench.vault.seconds = mine.seconds;
    expect(await pauser('44'.repeat(32), mine.vault)).toMatchObject({ state: 'ok' });
    const coin = await finding("vault: pauser's coin", {
      VAULT_PAUSER_KEY: '44'.repeat(32),
      VAULT_CONTRACT: mine.vault,
    });
    expect(coin).toMatchObject({ state: 'warning' });
  });
});

function signer() {
  return new VoucherSigner(bench.vault.place, VaultBench.SIGNER_KEY).address;
}

describe('a registry', () => {
  const KEY = '44'.repeat(32);
  let registry: TestRegistry;
  beforeAll(async () => {
    const seconds = bench.vault.seconds + 12;
    registry = await TestRegistry.deploy(bench.vault.chain, addressOfKey(KEY), { seconds });
    bench.vault.seconds = seconds;
  });

  const settings = (changes: Record<string, string> = {}) => ({
    REGISTRY_ADDRESS: registry.address,
    REGISTRY_PRIVATE_KEY: KEY,
    ...changes,
  });

  it('finds all well, and says nothing where none is set', async () => {
    const { out } = await bench.run(settings());
    expect(out).toMatch(/ok +registry +0x[0-9a-f]{40} is a SnapshotRegistry/);
    expect(out).toMatch(/ok +registry: contracts +it is of the indexed contracts/);
    expect(out).toMatch(/ok +registry: publisher +0x[0-9a-f]{40} holds PUBLISHER_ROLE/);
    expect(out).toMatch(/ok +registry: publisher's coin +0x[0-9a-f]{40} can pay/);
    expect((await bench.run()).out).not.toContain('registry');
  });

  it('finds other roots than ours', async () => {
    const place = { chainId: bench.vault.chain.chainId, registry: registry.address };
    const database = await bench.test.open();
    const store = new PublicationStore(database, place);
    const root = `0x${'7'.repeat(64)}` as NodeHash;
    const day = 20_000;
    expect((await bench.finding('registry: roots', settings())).state).toBe('ok');
    await store.add({ day, revision: 1, root }, 'default', 1);
    await store.final(day, 2);
    expect((await bench.finding('registry: roots', settings())).state).toBe('ok');
    await database.query({
      text: `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software)
        VALUES (20000, 1, decode(repeat('66', 32), 'hex'), 1, 1, 1, decode(repeat('11', 32), 'hex'), 'test')`,
    });
    expect(await bench.finding('registry: roots', settings())).toMatchObject({
      ...{ state: 'fault', code: 1 },
      found: expect.stringMatching(/days of 1 publications were sealed again/),
      mend: expect.stringContaining('registry status'),
    });
  });

  it.each([
    ['an address without code', { REGISTRY_ADDRESS: aWallet(9) }, 'registry', /no contract at/],
    [
      'a key without the role',
      { REGISTRY_PRIVATE_KEY: '55'.repeat(32) },
      'registry: publisher',
      /does not hold PUBLISHER_ROLE/,
    ],
    [
      'a key of the vault',
      { REGISTRY_PRIVATE_KEY: VaultBench.SIGNER_KEY },
      "registry: publisher's key",
      /the key of VOUCHER_SIGNER_KEY/,
    ],
  ])('finds %s', async (_, changes, what, found) => {
    expect(await bench.finding(what, settings(changes))).toMatchObject({
      ...{ state: 'fault', code: 1 },
      found: expect.stringMatching(found),
      mend: expect.any(String),
    });
  });

  it('finds another contract there, and a registry of other contracts', async () => {
    const { token } = bench.vault.chain.contracts;
    const other = await bench.finding('registry', settings({ REGISTRY_ADDRESS: token }));
    expect(other).toMatchObject({ state: 'fault', found: `${token} is not a SnapshotRegistry` });
    const of = { seconds: bench.vault.seconds + 24, stakedIn: 'eip155:1:0x01' };
    const wrong = await TestRegistry.deploy(bench.vault.chain, registry.publisher, of);
    const changes = settings({ REGISTRY_ADDRESS: wrong.address });
    expect(await bench.finding('registry: contracts', changes)).toMatchObject({
      state: 'fault',
      found: expect.stringMatching(/is of eip155:1:0x01, and the index of eip155:/),
    });
  });

  it('warns of a publisher that soon cannot pay', async () => {
    // Coin for ten publications at 1 gwei, the gas price of the local chain.
    const coin = `0x${(10n * 80_000n * 10n ** 9n).toString(16)}`;
    await bench.vault.chain.rpc.call('anvil_setBalance', registry.publisher, coin);
    expect(await bench.finding("registry: publisher's coin", settings())).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/has coin for about 10 publications/),
    });
  });
});
