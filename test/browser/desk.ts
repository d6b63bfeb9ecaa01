/**
 * Shared setup of the tests of operators' and partners' pages: services and a browser per file, and visits per test.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { type PartnerId } from '#libs/domain';
import { startBrowser } from '#libs/testing/browser';
import {
  type Account,
  ADMIN,
  anAccount,
  type ConsoleBench,
  type Place,
} from '../../apps/console/src/testing/console-harness.support.js';
import { DeskVisit } from './desk-visit.js';
import { Replicas } from './replicas.js';

interface Bench {
  readonly console: ConsoleBench;
  stop(): Promise<void>;
}

class Desk<B extends Bench> {
  bench!: B;
  browser!: Browser;
  readonly #visits: DeskVisit[] = [];

  #replicas!: Replicas;

  constructor(private readonly startBench: (place: Place) => Promise<B>) {}

  async start(): Promise<void> {
    this.#replicas = await Replicas.start();
    this.bench = await this.startBench(this.#replicas.console);
    await this.#replicas.serve('console');
    this.browser = await startBrowser();
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.bench.stop();
    await this.#replicas.stop();
  }

  /** @param account of a wallet in the browser */
  async open(account?: Account): Promise<DeskVisit> {
    const visit = await DeskVisit.open(this.browser, this.bench.console, account);
    this.#visits.push(visit);
    return visit;
  }

  /** Opens the pages as an operator, with a session that was started without a browser. */
  async operator(account: Account = ADMIN): Promise<DeskVisit> {
    const visit = await this.open();
    await visit.signedInAs(await this.bench.console.signedIn(account));
    return visit;
  }

  /** Opens the pages as a member of a partner, with the member's wallet in the browser. */
  async member(partner: PartnerId, account: Account = anAccount()): Promise<DeskVisit> {
    const visit = await this.open(account);
    const invitation = await this.bench.console.invitation(partner);
    const wish = { kind: 'partner', invitation } as const;
    await visit.signedInAs(await this.bench.console.signedIn(account, wish));
    return visit;
  }

  async close(): Promise<void> {
    for (const { context, faults } of this.#visits.splice(0)) {
      await context.close();
      expect(faults).toEqual([]);
    }
  }
}

/**
 * Starts the services and the browser before the tests of a file and stops them afterwards. Two consoles answer the
 * requests of a page by turns, so that each test also sees what only one replica would know. Each test starts with the
 * machine's current time, and its pages are closed after it. Register checks after each test in a `describe`, whose hooks
 * run before the pages are closed.
 */
export function useDesk<B extends Bench>(start: (place: Place) => Promise<B>): Desk<B> {
  const desk = new Desk(start);
  beforeAll(() => desk.start());
  afterAll(() => desk.stop());
  beforeEach(() => {
    desk.bench.console.clock.set(Date.now());
  });
  afterEach(() => desk.close());
  return desk;
}
