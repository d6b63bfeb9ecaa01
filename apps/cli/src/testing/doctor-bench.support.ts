/** A chain, vault, database and index without faults, for the doctor. Counts as a test file without being one. */
import { parseStakeEvents } from '#libs/chain';
import { fingerprintOf, IndexStore, LeaderLock, PriceStore } from '#libs/db';
import { type BlockHash, type BlockRef } from '#libs/domain';
import { mintSecretsKey } from '#libs/signing';
import { stake } from '#libs/testing/chain';
import {
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import { type Finding } from '#libs/doctor';
import { type Ran, runCaptured } from './cli-bench.support.js';

/** The provider's key in an endpoint's URL. */
export const URL_KEY = 'v2-key-nobody-may-see';
/** For findings that need no chain, whose checks take longest. */
export const OFF_CHAIN = { RPC_URLS: '' };
const SECRETS_KEY = mintSecretsKey().toString('base64');

type Changes = Readonly<Record<string, string>>;

export class DoctorBench {
  /** How far the clock is ahead of the real time, which the database uses. In milliseconds. */
  aheadMs = 0;
  /** All output so far. */
  printed = '';
  private readonly clock = { nowMs: () => Date.now() + this.aheadMs };

  private constructor(
    readonly vault: VaultBench,
    readonly test: TestDatabase,
    readonly lock: LeaderLock,
  ) {}

  static async start(): Promise<DoctorBench> {
    const [vault, test] = await Promise.all([VaultBench.start(), createTestDatabase()]);
    vault.seconds = Math.floor(Date.now() / 1000) - 80;
    await vault.chain.player.block(vault.seconds, stake(aWallet(0xb0b), 5n));
    await vault.finalise();
    const lock = new LeaderLock({ url: test.url, applicationName: 'indexer' });
    await lock.tryAcquire();
    const bench = new DoctorBench(vault, test, lock);
    await bench.index();
    return bench;
  }

  /** @throws where a secret was printed */
  async stop(): Promise<void> {
    const { SIGNER_KEY, OTHER_KEY } = VaultBench;
    const { password } = new URL(this.test.url);
    await this.lock.release();
    await Promise.all([this.vault.stop(), this.test.drop()]);
    const secrets = [URL_KEY, SIGNER_KEY, OTHER_KEY, SECRETS_KEY, password, 'hunter2'];
    const shown = secrets.filter((secret) => secret !== '' && this.printed.includes(secret));
    if (shown.length > 0) throw new Error(`printed: ${shown.join(', ')}`);
  }

  async run(changes: Changes = {}, ...argv: string[]): Promise<Ran> {
    return this.runOn({ ...this.settings(), ...changes }, ...argv);
  }

  async runOn(settings: Changes, ...argv: string[]): Promise<Ran> {
    const ran = await runCaptured(['doctor', ...argv], settings, { clock: this.clock });
    this.printed += ran.out + ran.err;
    return ran;
  }

  /** The finding about one part; `rpc node#1` is the first endpoint. */
  async finding(what: string, changes: Changes = {}) {
    const [found] = await this.findings(what, changes);
    return { ...found };
  }

  /** All findings about one part, each with the exit code. */
  async findings(what: string, changes: Changes = {}) {
    const { code, out } = await this.run(changes, '--json');
    const { findings } = JSON.parse(out) as { findings: Finding[] };
    return findings
      .filter((one) => one.what.replace(/127\.0\.0\.1:\d+/, 'node') === what)
      .map((one) => ({ ...one, code }));
  }

  /** The settings of the services of this chain. */
  private settings(): Record<string, string> {
    const { chain, vault } = this.vault;
    return {
      DATABASE_URL: this.test.urlAs('cli'),
      SECRETS_KEY,
      CHAIN_ID: String(chain.chainId),
      RPC_URLS: `${chain.url}/?key=${URL_KEY}`,
      TOKEN_CONTRACT: chain.contracts.token,
      VAULT_CONTRACT: vault,
      VOUCHER_SIGNER_KEY: VaultBench.SIGNER_KEY,
      INDEX_MAX_LAG_SECONDS: '600',
    };
  }

  private async index(): Promise<void> {
    const { chainId, contracts } = this.vault.chain;
    const { staking, token, startBlock } = contracts;
    const database = await this.test.open();
    const settings = {
      chainId,
      stakeContracts: [staking],
      tokenContract: token,
      startBlock: startBlock.toString(),
      events: parseStakeEvents('staked-withdrawn'),
    };
    await new IndexStore(database).create(
      anInitialIndex({
        chainId,
        stakeContract: staking,
        tokenContract: token,
        fingerprint: fingerprintOf(settings),
        settings,
        head: await this.newest(),
      }),
    );
    const observedAt = new Date(this.clock.nowMs());
    await new PriceStore(database).add({ usd: '0.1', observedAt, source: 'fixed' });
  }

  private async newest(): Promise<BlockRef> {
    const { number, hash, timestamp } = await this.vault.chain.rpc.call<
      Record<'number' | 'hash' | 'timestamp', string>
    >('eth_getBlockByNumber', 'latest', false);
    return {
      number: BigInt(number),
      hash: hash as BlockHash,
      timestampSeconds: Number(timestamp),
    };
  }
}
