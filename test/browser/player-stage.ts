/**
 * The environment of the players' pages: two consoles and two redemption services as programs behind the proxy, a chain,
 * a database, a partner and a browser.
 */
import { randomBytes } from 'node:crypto';
import { type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core';
import { testConstants } from '#libs/config';
import { VoucherSigner } from '#libs/chain';
import { type CallbackSettings, PriceStore } from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { KeyRing } from '#libs/signing';
import { startBrowser } from '#libs/testing/browser';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { FakePartner, registerPartner } from '#libs/testing/partner';
import { VaultBench } from '#libs/testing/vault';
import { RedemptionProgram } from '../restarts/redemption-program.js';
import { ServiceProgram } from '../restarts/service-program.js';
import { Replicas } from './replicas.js';

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const SIGNER = new VoucherSigner({ chainId: 1, vault: aWallet(1) }, VaultBench.SIGNER_KEY).address;
export const PARTNER = 'Arena';

class ConsoleProgram extends ServiceProgram {
  /** Resolves when the console is ready to serve. */
  static start(
    host: string,
    port: number,
    settings: Readonly<Record<string, string>>,
  ): Promise<ConsoleProgram> {
    const program = new ConsoleProgram(
      'console',
      port,
      { ...settings, LISTEN_HOST: host },
      { host },
    );
    return program.untilReady();
  }
}

export class PlayerStage {
  readonly database: TestDatabase;
  readonly bench: VaultBench;
  readonly game: FakePartner;
  readonly browser: Browser;
  /** Accounts of the chain, whose test wallets sign. */
  readonly accounts: readonly string[];

  private constructor(
    parts: Pick<PlayerStage, 'database' | 'bench' | 'game' | 'browser' | 'accounts'>,
    private readonly replicas: Replicas,
  ) {
    ({
      database: this.database,
      bench: this.bench,
      game: this.game,
      browser: this.browser,
      accounts: this.accounts,
    } = parts);
  }

  private readonly programs: {
    redemption: readonly RedemptionProgram[];
    console: readonly ConsoleProgram[];
  } = { redemption: [], console: [] };
  private readonly keyRing = KeyRing.parse(SECRETS_KEY);

  static async start(): Promise<PlayerStage> {
    const [replicas, database, bench, game, browser] = await Promise.all([
      Replicas.start(),
      createTestDatabase(),
      // The signer is also the canceller, so that the service can cancel vouchers.
      VaultBench.start({ canceller: SIGNER }),
      FakePartner.start(),
      startBrowser(),
    ]);
    // The first account has deployed the contracts, and holds their tokens.
    const [, ...accounts] = await bench.chain.rpc.call<string[]>('eth_accounts');
    const stage = new PlayerStage({ database, bench, game, browser, accounts }, replicas);
    await stage.finalise();
    await stage.addPartner(PARTNER);
    await stage.setPrice('0.15');
    await Promise.all([stage.startRedemption(), stage.startConsole()]);
    return stage;
  }

  get url(): string {
    return this.replicas.console.origin;
  }

  addPartner(name: string, terms: Partial<CallbackSettings> = {}): Promise<string> {
    return this.database.open().then((database) =>
      registerPartner(database, this.keyRing, {
        name,
        url: this.game.url,
        dailyTokenBudget: parseDecimal('1000000'),
        ...terms,
      }),
    );
  }

  /** Adds a price of one token, valid from now on. */
  async setPrice(usd: string): Promise<void> {
    const prices = new PriceStore(await this.database.open());
    await prices.add({ usd, observedAt: new Date(), source: 'fixed' });
  }

  private async startConsole(): Promise<void> {
    const { hosts, port, origin } = this.replicas.console;
    const settings = {
      DATABASE_URL: this.database.url,
      CONSOLE_PORT: String(port),
      CONSOLE_ORIGIN: origin,
      REDEMPTION_URL: this.replicas.redemption.origin,
      CONSOLE_TEST_WALLET_RPC_URL: this.bench.chain.url,
      CONSOLE_NETWORK: 'Local chain, ETH',
      TRUSTED_PROXIES: 'loopback',
      LOG_LEVEL: 'error',
    };
    this.programs.console = await Promise.all(
      hosts.map((host) => ConsoleProgram.start(host, port, settings)),
    );
    await this.replicas.serve('console');
  }

  /** @param voucherTtlSeconds lifetime of a voucher */
  async startRedemption(voucherTtlSeconds = 600): Promise<void> {
    const { hosts, port } = this.replicas.redemption;
    this.programs.redemption = await Promise.all(
      hosts.map((host) =>
        RedemptionProgram.start({
          databaseUrl: this.database.url,
          secretsKey: SECRETS_KEY,
          bench: this.bench,
          ...{ host, port },
          settings: {
            SIWE_DOMAINS: new URL(this.url).host,
            VOUCHER_TTL_SECONDS: String(voucherTtlSeconds),
            ...testConstants({
              ...{ voucherCoolDownSeconds: 0, payoutPollMs: 200, payoutExpiryMarginSeconds: 0 },
            }),
            WALLET_DAILY_TOKEN_BUDGET: '1000000',
            LOG_LEVEL: 'fatal',
          },
        }),
      ),
    );
    await this.replicas.serve('redemption');
  }

  hangRedemption(): void {
    for (const replica of this.programs.redemption) replica.hang();
  }

  resumeRedemption(): void {
    for (const replica of this.programs.redemption) replica.resume();
  }

  async killRedemption(): Promise<void> {
    await Promise.all(this.programs.redemption.map((replica) => replica.kill()));
  }

  /** Mines the pending transactions in a block with the current time. */
  async mine(): Promise<void> {
    const seconds = Math.max(this.bench.seconds + 1, Math.floor(Date.now() / 1000));
    await this.bench.mineAt(seconds);
  }

  /** Mines the pending transactions, and enough blocks to make them final. */
  async finalise(): Promise<void> {
    for (let block = 0; block < 6; block++) await this.mine();
  }

  /** A separate browser context for one player, with a separate client address. */
  async player(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.browser.newContext({
      baseURL: this.url,
      locale: 'en-GB',
      extraHTTPHeaders: { 'x-forwarded-for': `10.${randomBytes(3).join('.')}` },
      ...options,
    });
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await Promise.all(this.programs.console.map((replica) => replica.kill()));
    await this.killRedemption();
    await this.replicas.stop();
    await this.game.stop();
    await this.bench.stop();
    await this.database.drop();
  }
}
