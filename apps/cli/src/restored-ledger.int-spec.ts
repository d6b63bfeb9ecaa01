/** The commands for a restored ledger, and for claims that it lost. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createDatabase,
  type Database,
  KnownVaults,
  LedgerRestoreStore,
  ReconciliationStore,
  RedemptionStore,
} from '#libs/db';
import { type Address, type BlockHash, type Redemption } from '#libs/domain';
import { VaultBench } from '#libs/testing/vault';
import { type AuditRow, CliBench } from './testing/cli-bench.support.js';
import { aStored } from './testing/redemption-rows.support.js';

const ID = '0199d000-0000-7000-8000-0000000000aa';
const VAULT = `0x${'7a'.repeat(20)}` as Address;
const SINCE = '2026-03-01T02:00:00Z';
const NOTE = ['ledger', 'restored', '--lost-since', SINCE, '--voucher-ttl', '1800'];

let bench: CliBench;
/** Stored before any restore is noted: after it, the past can no longer be made up. */
let deducted: Redemption;
let authorised: Redemption;
beforeAll(async () => {
  bench = await CliBench.start();
  const partner = await bench.partner('Acme', 'https://game.example/svc');
  deducted = await aStored(bench.database, partner, 'deducted');
  authorised = await aStored(bench.database, partner, 'authorised');
});
afterAll(() => bench.drop());

async function audits(command: string): Promise<AuditRow[]> {
  const { rows } = await bench.database.pool.query<AuditRow>(
    'SELECT actor, command, redemption_id, arguments, outcome FROM redemption.audit WHERE command = $1 ORDER BY id',
    [command],
  );
  return rows;
}

describe('ledger restored', () => {
  it.each([
    ['no time', ['--voucher-ttl', '1800']],
    ['a local time', ['--lost-since', '2026-03-01T02:00:00', '--voucher-ttl', '1800']],
    ['a day that is none', ['--lost-since', '2026-13-01T02:00:00Z', '--voucher-ttl', '1800']],
    ['a time to come', ['--lost-since', '2999-01-01T00:00:00Z', '--voucher-ttl', '1800']],
    ['too short a life', ['--lost-since', SINCE, '--voucher-ttl', '9']],
  ])('refuses %s', async (_case, options) => {
    const { code, err } = await bench.run('ledger', 'restored', ...options, '--yes');
    expect([code, err === '']).toEqual([1, false]);
    expect(await audits('ledger restored')).toEqual([]);
  });

  it('is refused while a redemption service is connected', async () => {
    const url = bench.settings['DATABASE_URL'] ?? '';
    const service = await createDatabase({ url, applicationName: 'lowmark redemption' });
    const { code, err } = await bench.run(...NOTE, '--yes').finally(() => service.close());
    expect([code, err]).toEqual([1, expect.stringContaining('[REDEMPTION_RUNS]')]);
    expect(await audits('ledger restored')).toEqual([]);
  });

  it('is refused where one starts before the answer', async () => {
    const url = bench.settings['DATABASE_URL'] ?? '';
    const opened: Database[] = [];
    const ask = async () => {
      opened.push(await createDatabase({ url, applicationName: 'lowmark redemption' }));
      return 'yes';
    };
    const { err } = await bench.runWith({ ask }, ...NOTE);
    await opened[0]?.close();
    expect(err).toContain('[REDEMPTION_RUNS]');
    expect(await audits('ledger restored')).toEqual([]);
  });

  it.each([
    ['no address', 'x'],
    ['a block that is none', `${VAULT}:-1`],
    ['a chain that cannot be asked', VAULT],
  ])('takes no vault by %s', async (_case, vault) => {
    const { code, err } = await bench.run(...NOTE, '--yes', '--vault', vault);
    expect([code, err === '']).toEqual([1, false]);
    expect(await audits('ledger restored')).toEqual([]);
  });

  it('asks before', async () => {
    const no = { ask: () => Promise.resolve('no') };
    expect((await bench.runWith(no, ...NOTE)).code).toBe(1);
    expect((await bench.run(...NOTE)).err).toContain('add --yes');
    expect(await audits('ledger restored')).toEqual([]);
  });

  it('refuses a time after which something is known to be missing', async () => {
    const missingAtMs = Date.parse(SINCE) - 1;
    await new LedgerRestoreStore(bench.database).mark('it lacks a transition', missingAtMs);
    const note = ['ledger', 'restored', '--voucher-ttl', '1800', '--yes', '--lost-since'];
    const { code, err } = await bench.run(...note, SINCE);
    expect([code, err]).toEqual([1, expect.stringContaining('it lacks a transition')]);
    expect(await audits('ledger restored')).toEqual([]);
    expect((await bench.run(...note, new Date(missingAtMs).toISOString())).code).toBe(0);
  });

  it('is noted for every redemption without a plan, and shown', async () => {
    const { id } = deducted;
    const ran = await bench.run(...NOTE, '--yes', '--as', 'ann');
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toContain('open redemptions without a plan: 1 deducted.');
    const stored = await new RedemptionStore(bench.database).get(id);
    const until = stored?.redemption.lostVoucherUntilSeconds ?? 0;
    expect(until - Date.now() / 1000).toBeGreaterThan(1800 + 590);
    expect(until - Date.now() / 1000).toBeLessThan(1800 + 602);
    expect((await audits('ledger restored')).at(-1)).toEqual({
      actor: 'operator:ann',
      command: 'ledger restored',
      redemption_id: null,
      arguments: { lostSince: '2026-03-01T02:00:00.000Z', voucherTtlSeconds: 1800 },
      outcome: 'noted',
    });
    const shown = await bench.run('redemption', 'show', id);
    expect(shown.out).toMatch(/lost voucher +may be claimed until/);
  });

  it('believes no shorter life than that of a voucher which the ledger has', async () => {
    const { plan, authorisedAtMs } = authorised;
    const life = Math.floor((plan?.deadlineSeconds ?? 0) - (authorisedAtMs ?? 0) / 1000);
    const note = ['ledger', 'restored', '--lost-since', SINCE, '--yes', '--voucher-ttl'];
    const before = await audits('ledger restored');
    const refused = await bench.run(...note, String(life - 1));
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`Give ${life},`)]);
    expect(await audits('ledger restored')).toEqual(before);
    expect((await bench.run(...note, String(life))).code).toBe(0);
  });

  it('removes the mark of the restore, of which migrate and doctor tell', async () => {
    const sql = await readFile('deploy/pgbackrest/restored.sql', 'utf8');
    await bench.database.pool.query(sql);
    const told = 'Stop every redemption service and run';
    const outputs = async () => [
      (await bench.runAsOwner('migrate')).out,
      (await bench.run('doctor')).out,
    ];
    for (const out of await outputs()) expect(out).toContain(told);
    expect(await bench.run(...NOTE, '--yes')).toMatchObject({ code: 0, err: '' });
    for (const out of await outputs()) expect(out).not.toContain(told);
    expect((await bench.run('doctor')).out).toMatch(/ledger +no restore without its note/);
  });
});

describe('the vaults that an operator names', () => {
  let vault: VaultBench;
  beforeAll(async () => {
    vault = await VaultBench.start();
  });
  afterAll(() => vault.stop());

  function note(...vaults: string[]) {
    const { chain } = vault;
    const settings = {
      CHAIN_ID: String(chain.chainId),
      RPC_URLS: chain.url,
      TOKEN_CONTRACT: chain.contracts.token,
    };
    const named = vaults.flatMap((one) => ['--vault', one]);
    return bench.runWith({ settings }, ...NOTE, '--yes', ...named);
  }

  async function known() {
    return new KnownVaults(bench.database).of(vault.chain.chainId);
  }

  it('are refused where no vault answers', async () => {
    const { code, err } = await note(vault.vault, vault.chain.contracts.token);
    expect([code, err]).toEqual([1, expect.stringContaining('is not a redemption vault')]);
    expect(await known()).toEqual([]);
  });

  it('are known from then on, and in the audit', async () => {
    const other = await vault.another({});
    const ran = await note(`${vault.vault}:7`, other.vault.toUpperCase().replace('0X', '0x'));
    expect(ran).toMatchObject({ code: 0, err: '' });
    const expected = [
      { vault: vault.vault, startBlock: 7n },
      { vault: other.vault, startBlock: 0n },
    ].sort((a, b) => (a.vault < b.vault ? -1 : 1));
    expect(await known()).toEqual(expected);
    expect((await bench.audit())[0]).toMatchObject({
      command: 'ledger restored',
      arguments: { vaults: [vault.vault, other.vault] },
    });
  });
});

describe('reconciliation', () => {
  beforeAll(async () => {
    const store = new ReconciliationStore(bench.database);
    await store.begin({ chainId: 1, vault: VAULT }, 0n);
    const [checkpoint] = await store.checkpoints(1);
    if (checkpoint === undefined) throw new Error('no checkpoint');
    const hash = `0x${'b'.repeat(64)}` as BlockHash;
    const block = { number: 7n, hash, timestampSeconds: 1_772_366_400 };
    const claim = {
      vaultId: `0x${ID.replaceAll('-', '').padEnd(64, '0')}`,
      redemptionId: ID as never,
      transactionHash: `0x${'c'.repeat(64)}`,
      block,
      recipient: VAULT,
      amount: 340n,
    };
    await store.advance(checkpoint, block, [claim], 0);
  });

  it('refuses what is no claim, and keeps that in the audit', async () => {
    const other = ID.replace('aa', 'ab');
    const { code, err } = await bench.run('reconciliation', 'acknowledge', other, '--note', 'x');
    expect(code).toBe(1);
    expect(err).toContain('[CLAIM_NOT_FOUND]');
    expect(await audits('reconciliation acknowledge')).toMatchObject([
      { outcome: 'refused: CLAIM_NOT_FOUND' },
    ]);
  });

  it.each([
    ['no note', [ID]],
    ['an empty note', [ID, '--note', '  ']],
    ['a long note', [ID, '--note', 'x'.repeat(256)]],
    ['another id', ['0xab', '--note', 'x']],
  ])('refuses %s', async (_case, options) => {
    expect((await bench.run('reconciliation', 'acknowledge', ...options)).code).toBe(1);
    expect((await bench.run('reconciliation', 'list')).out).toContain(ID);
  });

  it('lists a claim until it is acknowledged, and after that with --all', async () => {
    const listed = await bench.run('reconciliation', 'list');
    expect(listed.out).toContain(`${ID}  without-row`);
    const acknowledge = ['reconciliation', 'acknowledge', ID.toUpperCase()];
    const done = await bench.run(...acknowledge, '--note', 'Acme has it', '--as', 'ann');
    expect(done).toMatchObject({ code: 0, err: '' });
    expect((await bench.run('reconciliation', 'list')).out).toBe('There are none.\n');
    expect((await bench.run('reconciliation', 'list', '--all')).out).toContain(
      'by operator:ann: Acme has it',
    );
    const { out } = await bench.run('reconciliation', 'list', '--all', '--json');
    expect(JSON.parse(out)).toMatchObject([{ id: ID, amount: '340' }]);
    expect((await audits('reconciliation acknowledge')).at(-1)).toMatchObject({
      ...{ actor: 'operator:ann', outcome: 'acknowledged', arguments: { id: ID } },
    });
  });
});
