import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clearFindings, type Findings, IndexStore, recordFinding } from '#libs/db';
import { aWallet, createTestDatabase } from '#libs/testing/database';
import { DoctorBench, OFF_CHAIN } from './testing/doctor-bench.support.js';

const ACCEPT = 'UPDATE lowmark.migration SET older_may_start = true';

let bench: DoctorBench;
beforeAll(async () => {
  bench = await DoctorBench.start();
});
afterAll(() => bench.stop());

describe('where all is well', () => {
  it('says so, of everything, and what it did not look at', async () => {
    const { code, out, err } = await bench.run();
    expect(out).not.toMatch(/FAULT/);
    expect({ err, code }).toEqual({ code: 0, err: '' });
    for (const line of [
      /^ok +settings +\d+ of those/m,
      /^ok +database +PostgreSQL \d+\.\d+ at 127\.0\.0\.1:\d+\/test_/m,
      /^ok +indexer +one holds the lead/m,
      /^ok +schema +up to date/m,
      /^ok +database rights /m,
      /^ok +stored secrets +0, all under/m,
      /^ok +index +block \d+ of LOW stakes, \d+s behind/m,
      /^- +production +not checked: NODE_ENV is not production/m,
      /^ok +claims +none that the ledger does not explain/m,
      /^ok +price +0\.1 USD by fixed, \d+s old/m,
      /^- +redis +not checked: REDIS_URL is not set/m,
      /^ok +rpc 127\.0\.0\.1:\d+#1 +answers; chain \d+/m,
      /^ok +rpc \S+: head +block \d+, \d+s old/m,
      /^ok +rpc \S+: finality +block \d+ is final, 4 below/m,
      /^ok +rpc \S+: logs +of 10000 or more blocks at once/m,
      /^ok +rpc \S+: state +from block \d+ on \(archive\)/m,
      /^ok +staking contract +there is one at 0x/m,
      /^ok +staking contract: events +\d+ of the \d+/m,
      /^ok +verification +total: The contract tells its total, at past blocks too\. It cannot find: With one provider: a missing transfer/m,
      /^ok +token +LOW with 18 decimals/m,
      /^ok +vault: balance +1000000 tokens/m,
      /^ok +vault: signer +0x[0-9a-f]{40} holds SIGNER_ROLE/m,
    ]) {
      expect(out).toMatch(line);
    }
  });

  it.each(['api', 'indexer', 'redemption', 'cli'] as const)(
    'is so for the user of the %s: what that may not read is not checked',
    async (program) => {
      const { code, out } = await bench.run({
        ...OFF_CHAIN,
        DATABASE_URL: bench.test.urlAs(program),
      });
      expect(out).not.toMatch(/FAULT/);
      expect(code).toBe(0);
      expect(out).toContain(`those of the ${program} (`);
      const hidden = /stored secrets +not checked: not as this user/.test(out);
      expect(hidden).toBe(program !== 'cli');
    },
  );

  it('is a fault where a program lacks one of its rights', async () => {
    const owner = await bench.test.open();
    await owner.query({ text: 'REVOKE UPDATE ON partners.callback FROM lowmark_operator' });
    try {
      const found = await bench.finding('database rights', OFF_CHAIN);
      expect(found).toMatchObject({
        state: 'fault',
        found: 'the cli lacks UPDATE on partners.callback',
      });
    } finally {
      await owner.query({ text: 'GRANT UPDATE ON partners.callback TO lowmark_operator' });
    }
  });

  it('names settings of the database that no session sets by itself, and those that do harm', async () => {
    const owner = await bench.test.open();
    const alter = `ALTER DATABASE ${bench.test.name}`;
    await owner.query({ text: `${alter} SET work_mem = '8MB'` });
    await owner.query({ text: `${alter} SET search_path = 'nowhere'` });
    try {
      expect(await bench.finding('database: settings', OFF_CHAIN)).toMatchObject({
        ...{ state: 'ok', found: 'work_mem=8MB (database)', code: 0 },
      });
      await owner.query({ text: `${alter} SET synchronous_commit = off` });
      expect(await bench.finding('database: settings', OFF_CHAIN)).toMatchObject({
        state: 'warning',
        found: 'synchronous_commit=off (database): a crash of the server may lose redemptions',
        mend: 'Set it to on, except for the indexer’s user.',
      });
    } finally {
      await owner.query({ text: `${alter} RESET ALL` });
    }
  });

  it('looks at whatever is set', async () => {
    const { code, out } = await bench.runOn({});
    expect(code).toBe(0);
    expect(out).toMatch(/- +database +not checked: DATABASE_URL is not set/);
    expect(out).toMatch(/- +vault +not checked: RPC_URLS is not set/);
  });
});

describe('settings', () => {
  it('names the wrong ones, never with a value, and goes on with the others', async () => {
    const wrong = { CHAIN_ID: 'hunter2', RPC_URLS: 'ftp://hunter2' };
    const { code, out } = await bench.run(wrong);
    expect(code).toBe(1);
    expect(out).toMatch(/FAULT +settings +CHAIN_ID must be a number/);
    expect(out).toMatch(/rpc +not checked: RPC_URLS is not usable/);
    expect(out).toMatch(/ok +database /);
    expect(out).not.toContain('hunter2');
  });

  it('names those that are none', async () => {
    const found = await bench.finding('settings', { ...OFF_CHAIN, REDISURL: 'hunter2' });
    expect(found).toMatchObject({
      ...{ state: 'warning', found: 'REDISURL is not a setting. Did you mean REDIS_URL?', code: 0 },
    });
  });

  it('names all that production refuses, and a key that is shared, never the key', async () => {
    const key = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
    const EVIDENCE_KEY = Buffer.alloc(32, 9).toString('base64');
    const { code, out } = await bench.run({
      NODE_ENV: 'production',
      CHAIN_ID: '31337',
      PRICE_SOURCE: 'fixed:0.1',
      ALLOW_PRIVATE_PARTNERS: 'true',
      SIWE_DOMAINS: 'localhost:3002',
      VOUCHER_TTL_SECONDS: '300',
      VAULT_PAUSER_KEY: key,
      SECRETS_KEY: EVIDENCE_KEY,
      EVIDENCE_KEY,
    });
    expect(code).toBe(1);
    for (const line of [
      /^FAULT +production: keys +EVIDENCE_KEY is one of SECRETS_KEY/m,
      /^FAULT +production +CHAIN_ID: 31337 is a chain/m,
      /^FAULT +production +PRICE_SOURCE: a fixed price/m,
      /^FAULT +production +ALLOW_PRIVATE_PARTNERS: /m,
      /^FAULT +production +SIWE_DOMAINS: names this machine/m,
      /^FAULT +production +VAULT_PAUSER_KEY: the key is published/m,
      /^FAULT +trial: vouchers +vouchers live 300 s/m,
      /^FAULT +trial: price +0\.1 USD is fixed/m,
    ]) {
      expect(out).toMatch(line);
    }
    for (const secret of [key, EVIDENCE_KEY]) expect(out).not.toContain(secret);
    const bounds = await bench.run({ ...OFF_CHAIN, PRICE_BOUNDS_USD: '1..0.5' });
    expect(bounds.out).toMatch(
      /^FAULT +settings +PRICE_BOUNDS_USD must have the lowest price first/m,
    );
  });

  it('says what the indexer would refuse to start for', async () => {
    const found = await bench.finding('index: settings', {
      ...OFF_CHAIN,
      STAKE_CONTRACT: aWallet(7),
    });
    expect(found).toMatchObject({ state: 'fault', code: 1 });
    expect(found.found).toContain(`STAKE_CONTRACT is ${aWallet(7)}; the index was made with 0x`);
  });

  it.each([
    [
      'STAKE_START_BLOCK',
      '1',
      /^the index in this database was made with other settings: .* is 1;/,
    ],
    ['STAKE_EVENTS', 'stake-unstake', /is Stake\S+ and Unstake\S+; the index was made with Staked/],
    ['CHAIN_ID', '5', /CHAIN_ID is 5; the index was made with \d+$/],
  ])('among them %s', async (variable, value, text) => {
    const found = await bench.finding('index: settings', { ...OFF_CHAIN, [variable]: value });
    expect(found).toMatchObject({ state: 'fault', code: 1 });
    expect(found.mend).toContain('docs/operating/troubleshooting.md#indexing-again');
    expect(found.found).toMatch(text);
  });

  it('of an indexer that are those of the index', async () => {
    const { staking, startBlock } = bench.vault.chain.contracts;
    const contract = { STAKE_CONTRACT: staking, STAKE_START_BLOCK: startBlock.toString() };
    const same = { ...OFF_CHAIN, ...contract };
    expect(await bench.finding('index: settings', same)).toMatchObject({ state: 'ok', code: 0 });
    const database = await bench.test.open();
    const { fingerprint } = (await new IndexStore(database).state()) ?? {};
    const stamp = { text: 'UPDATE staking.index_state SET fingerprint = $1' };
    await database.query(stamp, ['another']);
    const found = await bench.finding('index: settings', same);
    await database.query(stamp, [fingerprint]);
    expect(found).toMatchObject({ state: 'fault' });
    expect(found.found).toContain('does not belong to its fingerprint');
  });
});

describe('the database', () => {
  it('that does not answer is one fault, and what needs it is not checked', async () => {
    const DATABASE_URL = 'postgresql://u:hunter2@127.0.0.1:1/x';
    const { code, out } = await bench.run({ ...OFF_CHAIN, DATABASE_URL });
    expect(code).toBe(1);
    expect(out).toMatch(/FAULT +database +127\.0\.0\.1:1\/x: .*ECONNREFUSED/);
    expect(out).toMatch(/- +schema +not checked: the database cannot be opened/);
    expect(out).not.toContain('hunter2');
  });

  it('that was not migrated, or by a newer program', async () => {
    const empty = await createTestDatabase('empty');
    const { out } = await bench.run({ ...OFF_CHAIN, DATABASE_URL: empty.url });
    await empty.drop();
    expect(out.match(/^FAULT .*$/gm)).toEqual([expect.stringMatching(/^FAULT +schema /)]);
    expect(out).toContain('Run `npm run migrate`.');
    for (const name of [
      'database rights',
      'stored secrets',
      'index',
      'price',
      'price limits',
      'partners',
    ]) {
      expect(out).toMatch(new RegExp(`^- +${name} +not checked: no schema$`, 'm'));
    }
    const database = await bench.test.open();
    const values = `(9000000000000, 'Tomorrow9000000000000')`;
    await database.query({
      text: `INSERT INTO lowmark.migration (timestamp, name) VALUES ${values}`,
    });
    const newer = await bench.finding('schema', OFF_CHAIN);
    await database.query({ text: `${ACCEPT} WHERE timestamp = 9000000000000` });
    const accepted = await bench.finding('schema', OFF_CHAIN);
    expect(accepted).toMatchObject({ state: 'warning', code: 0 });
    expect(accepted.found).toContain('Tomorrow9000000000000; this one was let start');
    await database.query({ text: 'DELETE FROM lowmark.migration WHERE timestamp = 9000000000000' });
    expect(newer).toMatchObject({ state: 'fault', code: 1 });
    expect(newer.found).toContain('Tomorrow9000000000000');
  });

  it('that a development version made', async () => {
    const old = await createTestDatabase();
    const database = await old.open();
    await database.query({
      text: `INSERT INTO lowmark.migration (timestamp, name) VALUES (1760000000000, 'StakingIndex1760000000000')`,
    });
    const { code, out } = await bench.run({ ...OFF_CHAIN, DATABASE_URL: old.url });
    await old.drop();
    expect(code).toBe(1);
    expect(out.match(/^FAULT .*$/gm)).toEqual([
      expect.stringMatching(/^FAULT +schema +.*has no upgrade/),
    ]);
    expect(out).toContain('SCHEMA_UNSUPPORTED');
    expect(out).toMatch(/^- +database rights +not checked: no schema$/m);
  });

  it('whose clock differs, whose index lags, whose price is old, which nobody indexes', async () => {
    await bench.lock.release();
    bench.aheadMs = 10_000_000;
    const { code, out } = await bench.run();
    bench.aheadMs = 0;
    await bench.lock.tryAcquire();
    expect(code).toBe(1);
    expect(out).toMatch(/FAULT +database: clock /);
    expect(out).toMatch(/WARNING +indexer +none holds the lead/);
    expect(out).toMatch(/(WARNING|FAULT) +index +block \d+ .* 2h 4\d+m behind/);
    expect(out).toMatch(/WARNING +price .*older than 2h/);
    expect(out).toMatch(/WARNING +rpc \S+: head +block \d+, 2h 4\d+m old/);
  });

  it.each([
    [-600_000, 'database: clock', 'fault', /^600\.\d s ahead of this machine/],
    [600_000, 'database: clock', 'fault', /^(599|600)\.\d s behind this machine/],
    [5000, 'database: clock', 'warning', /^[45]\.\d s behind this machine/],
    [0, 'database: clock', 'ok', /^the same time as this machine/],
    [-600_000, 'rpc node#1: head', 'warning', /^block \d+ is of the future, by \dm/],
    [
      -600_000,
      'index',
      'fault',
      /^block \d+ of LOW stakes, \d+m.* ahead of the clock: no snapshot/,
    ],
  ])('with a clock of this machine that is %d ms ahead: %s', async (aheadMs, what, state, text) => {
    bench.aheadMs = aheadMs;
    const found = await bench.finding(what, what.startsWith('rpc') ? {} : OFF_CHAIN);
    bench.aheadMs = 0;
    expect(found).toMatchObject({ state, found: expect.stringMatching(text) });
    if (state !== 'ok') expect(found.mend).toContain('NTP');
  });

  it('whose index halted', async () => {
    const store = new IndexStore(await bench.test.open());
    const fence = await store.takeLead();
    await store.halt(fence, 'DEEP_REORGANISATION: a sample');
    const found = await bench.finding('index', OFF_CHAIN);
    await store.clearHalt(fence);
    expect(found).toMatchObject({ state: 'fault', code: 1 });
    expect(found.found).toContain('DEEP_REORGANISATION');
  });

  it.each<[Findings, string]>([
    [[aWallet(1), aWallet(2)], '2'],
    ['all', 'any'],
  ])('in which a check found a difference: %j', async (findings, wallets) => {
    const database = await bench.test.open();
    await recordFinding(database, findings, 'audit');
    const found = await bench.finding('index: wrong figures', OFF_CHAIN);
    await clearFindings(database, 'all');
    expect(found).toMatchObject({ state: 'fault', code: 1 });
    expect(found.found).toMatch(new RegExp(`does not answer about: ${wallets}$`));
    expect(found.mend).toContain('`index repair`');
  });
});
