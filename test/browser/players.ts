/** Players on the stage of a test file. Their browser contexts are closed after each test. */
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { type BrowserContext, type BrowserContextOptions } from 'playwright-core';
import { type FakeWalletOptions, fakeWalletScript } from './fake-wallet.js';
import { PlayerPage } from './player-page.js';
import { PlayerSession } from './player-session.js';
import { PlayerStage } from './player-stage.js';

interface PlayerVisit {
  readonly points?: number;
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
  visitor(visit: PlayerVisit = {}): Promise<PlayerPage> {
    return this.#open(this.account(visit.points), visit);
  }

  /** A player who is signed in and connected. The page opens with a session that was started without it. */
  async player(visit: PlayerVisit = {}): Promise<PlayerPage> {
    const account = this.account(visit.points);
    return this.#open(account, visit, await PlayerSession.start(this.stage, account));
  }

  /** A signed-in player with a voucher for 100 tokens. */
  async voucher(visit: PlayerVisit = {}): Promise<PlayerPage> {
    const account = this.account(visit.points);
    const session = await PlayerSession.start(this.stage, account);
    await session.redeem(1500);
    const player = await this.#open(account, visit, session);
    await player.isAt('claimable');
    return player;
  }

  async close(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }

  async #open(
    account: string,
    { fake, browser }: PlayerVisit,
    session?: PlayerSession,
  ): Promise<PlayerPage> {
    const context = await this.context(browser);
    if (fake !== undefined) await context.addInitScript(fakeWalletScript(account, fake));
    await session?.enter(context, fake === undefined ? 'test' : 'fake');
    return PlayerPage.open(this.stage, context, account);
  }
}

/** Starts the stage before the tests of a file, and stops it after them. */
export function usePlayers(): Players {
  const players = new Players();
  beforeAll(async () => {
    players.stage = await PlayerStage.start();
  }, 300_000);
  afterEach(() => players.close());
  afterAll(() => players.stage.stop());
  return players;
}
