/** Players on the stage of a test file. Their browser contexts are closed after each test. */
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { type BrowserContext, type BrowserContextOptions } from 'playwright-core';
import { FAKE_WALLET, type FakeWalletOptions, fakeWalletScript } from './fake-wallet.js';
import { PlayerPage } from './player-page.js';
import { PlayerStage } from './player-stage.js';

interface PlayerVisit {
  readonly points?: number;
  /** Options of a fake wallet; by default the console's test wallet is used. */
  readonly fake?: FakeWalletOptions | undefined;
  readonly browser?: BrowserContextOptions;
}

class Players {
  stage!: PlayerStage;
  readonly #contexts: BrowserContext[] = [];
  #accounts = 0;

  async context(options?: BrowserContextOptions): Promise<BrowserContext> {
    const context = await this.stage.player(options);
    this.#contexts.push(context);
    return context;
  }

  /** An account that no test has used. */
  account(points = 10_000): string {
    const account = this.stage.accounts[this.#accounts++];
    if (account === undefined) throw new Error('the chain has no account left');
    this.stage.game.points.set(account, points);
    return account;
  }

  /** A player with points and a wallet who has just opened the page. */
  async visitor({ points, fake, browser }: PlayerVisit = {}): Promise<PlayerPage> {
    const account = this.account(points);
    const context = await this.context(browser);
    if (fake !== undefined) await context.addInitScript(fakeWalletScript(account, fake));
    return PlayerPage.open(this.stage, context, account);
  }

  /** A signed-in player. */
  async player(visit: PlayerVisit = {}): Promise<PlayerPage> {
    const player = await this.visitor(visit);
    await player.signIn(visit.fake === undefined ? undefined : FAKE_WALLET);
    return player;
  }

  /** A signed-in player with a voucher for 100 tokens. */
  async voucher(visit: PlayerVisit = {}): Promise<PlayerPage> {
    const player = await this.player(visit);
    await player.redeem(1500);
    await player.isAt('claimable');
    return player;
  }

  async close(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }
}

/** Starts the stage before the tests of a file, and stops it after them. */
export function usePlayers(): Players {
  const players = new Players();
  beforeAll(async () => {
    players.stage = await PlayerStage.start();
  }, 120_000);
  afterEach(() => players.close());
  afterAll(() => players.stage.stop());
  return players;
}
