/**
 * A system to operate: a chain with a vault, prices, a partner, Redis, PostgreSQL, and redemptions that wait for an
 * operator.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import {
  AuditRunStore,
  createDatabase,
  type Database,
  PriceStore,
  ReconciliationStore,
} from '#libs/db';
import { type BlockHash, mintUuidV7, type PartnerId, type UuidV7 } from '#libs/domain';
import { stake } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { aPartnerId, FakePartner } from '#libs/testing/partner';
import { startRedis } from '#libs/testing/redis';
import { VaultBench } from '#libs/testing/vault';
import { CALLBACK_SECRET } from '../../../apps/cli/src/testing/cli-bench.support.js';
import { aStored } from '../../../apps/cli/src/testing/redemption-rows.support.js';
import { LocalPostgres } from './local-postgres.js';
import { Services } from './services.js';

const PRICE = '0.1';

export class OperatedSystem {
  private waiting: Promise<UuidV7> | undefined;

  private constructor(
    readonly vault: VaultBench,
    readonly partner: FakePartner,
    readonly services: Services,
    private readonly stopAround: () => Promise<unknown>,
  ) {}

  get postgres(): LocalPostgres {
    return this.services.postgres;
  }

  static async start(): Promise<OperatedSystem> {
    const [vault, redis, postgres, partner] = await Promise.all([
      VaultBench.start(),
      startRedis('a-password-of-redis'),
      LocalPostgres.start(),
      FakePartner.start(CALLBACK_SECRET, '/game/v1'),
    ]);
    vault.seconds = Math.floor(Date.now() / 1000) - 80;
    await vault.chain.player.block(vault.seconds, stake(aWallet(0xb0b), 5n));
    await vault.finalise();
    partner.behave = ({ body }) => ({ body: balanceOf(String(body['address'])) });
    const prices = createServer((_, response) => response.end(JSON.stringify({ usd: PRICE })));
    await new Promise<void>((listening) => prices.listen(0, '127.0.0.1', listening));
    const priceUrl = `http://127.0.0.1:${(prices.address() as AddressInfo).port}/price#/usd`;
    const { chain } = vault;
    const settings = {
      NODE_ENV: 'production',
      CHAIN_ID: String(chain.chainId),
      RPC_URLS: chain.url,
      STAKE_CONTRACT: chain.contracts.staking,
      STAKE_START_BLOCK: String(chain.contracts.startBlock),
      TOKEN_CONTRACT: chain.contracts.token,
      PRICE_SOURCE: `http:${priceUrl}`,
      PRICE_BOUNDS_USD: '0.05..0.5',
      VAULT_CONTRACT: vault.vault,
      VAULT_START_BLOCK: '0',
      SIWE_DOMAINS: 'app.example.com',
      INDEX_MAX_LAG_SECONDS: '600',
      AUDIT_HOUR_UTC: 'off',
    };
    const secrets = {
      'secrets/redis_url': redis.url,
      'signer/voucher_signer_key': VaultBench.SIGNER_KEY,
    };
    const services = await Services.prepare(postgres, settings, secrets);
    return new OperatedSystem(vault, partner, services, async () => {
      prices.closeAllConnections();
      prices.close();
      await Promise.all([vault.stop(), redis.stop(), partner.stop(), postgres.stop()]);
    });
  }

  async stop(): Promise<void> {
    await this.services.stop();
    await this.stopAround();
  }

  /** A redemption that waits for an operator, of a separate partner. */
  redemption(): Promise<UuidV7> {
    return (this.waiting ??= this.makeRedemption());
  }

  private makeRedemption(): Promise<UuidV7> {
    return this.withDatabase(async (database) => {
      const rows = await database.query<{ id: PartnerId }>({
        text: "INSERT INTO partners.partner (name) VALUES ('Acme ' || gen_random_uuid()) RETURNING id",
      });
      const { id } = await aStored(
        database,
        rows[0]?.id ?? aPartnerId(),
        'attention: deduction-unresolved',
      );
      return id;
    });
  }

  /** Stores a claim on chain without a redemption. @returns the redemption id of the claim */
  async claim(): Promise<string> {
    const redemptionId = mintUuidV7(Date.now(), randomBytes(10));
    await this.withDatabase(async (database) => {
      const store = new ReconciliationStore(database);
      await store.begin({ chainId: 1, vault: this.vault.vault }, 0n);
      const [checkpoint] = await store.checkpoints(1);
      if (checkpoint === undefined) throw new Error('no checkpoint');
      const hash = `0x${'b'.repeat(64)}` as BlockHash;
      const block = { number: 7n, hash, timestampSeconds: 1_772_366_400 };
      const claim = {
        vaultId: `0x${redemptionId.replaceAll('-', '').padEnd(64, '0')}`,
        redemptionId,
        transactionHash: `0x${'c'.repeat(64)}`,
        block,
        recipient: this.vault.vault,
        amount: 340n,
      };
      await store.advance(checkpoint, block, [claim], 0);
    });
    return redemptionId;
  }

  /** Stores a nightly audit without differences. */
  audit(): Promise<void> {
    return this.withDatabase(async (database) => {
      await new AuditRunStore(database).record(await fenceOf(database), {
        startedAt: new Date(),
        finishedAt: new Date(),
        result: 'ok',
        blockNumber: 6n,
        blockHash: `0x${'b'.repeat(64)}` as BlockHash,
        wallets: 1,
        compared: 1,
        differences: 0,
        different: [],
        indexedTotal: 5n,
        contractTotal: 5n,
        sums: { stored: 5n, closings: 5n, balances: 5n },
      });
    });
  }

  /** Stores a price that the indexer holds back as not credible. */
  hold(usd: string): Promise<void> {
    return this.withDatabase(async (database) => {
      const price = { usd, observedAt: new Date(), source: 'http:x' };
      const about = { reason: 'jump', beforeUsd: PRICE, maxChange: '0.2', isNewHold: false };
      await new PriceStore(database).hold(await fenceOf(database), { price, ...about });
    });
  }

  /** Removes the held price, as if the source had returned to its old price and an operator had reviewed it. */
  release(): Promise<void> {
    return this.withDatabase(async (database) => {
      const text = 'TRUNCATE staking.price_hold, staking.price_acceptance';
      await database.query({ text });
    });
  }

  private async withDatabase<T>(use: (database: Database) => Promise<T>): Promise<T> {
    const { url } = this.postgres;
    const database = await createDatabase({ url, applicationName: 'test', poolSize: 1 });
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  }
}

function balanceOf(address: string): string {
  return JSON.stringify({
    success: true,
    partnerUserId: 'player-1',
    address,
    points: 50_000,
    chain: 'ethereum',
  });
}

/** The fencing token of the leading indexer. */
async function fenceOf(database: Database): Promise<bigint> {
  const text = 'SELECT fence FROM staking.index_state';
  const [row] = await database.query<{ fence: string }>({ text });
  return BigInt(row?.fence ?? 0);
}
