/** A separate browser context for one user of the operators' or the partners' pages. */
import { randomBytes } from 'node:crypto';
import { type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { graveFaults, PAGE_PATIENCE_MS } from '#libs/testing/browser';
import {
  type Account,
  type ConsoleBench,
} from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';

export const WALLET_NAME = 'Test <b>wallet</b>';

interface Look {
  readonly width: 360 | 1440;
  readonly colorScheme: 'light' | 'dark';
}
/** Each width and each colour scheme once: what is wrong depends on one of the two. */
const LOOKS: readonly Look[] = [
  { width: 360, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
];
/** For a page whose frame all others share. */
export const EVERY_LOOK: readonly Look[] = [
  ...LOOKS,
  { width: 360, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light' },
];

export class DeskVisit {
  private constructor(
    readonly origin: string,
    readonly context: BrowserContext,
    readonly page: Page,
    /** Violations of the pages' content security policy, and uncaught errors. */
    readonly faults: readonly string[],
  ) {}

  /** @param account of a wallet in the browser (EIP-6963) that signs every request */
  static async open(
    browser: Browser,
    { origin }: Pick<ConsoleBench, 'origin'>,
    account?: Account,
  ): Promise<DeskVisit> {
    const context = await browser.newContext({
      locale: 'en-GB',
      viewport: { width: 1440, height: 900 },
      // A separate client address, so that rate limits of one user do not affect another.
      extraHTTPHeaders: { 'x-forwarded-for': `10.${randomBytes(3).join('.')}` },
    });
    context.setDefaultTimeout(PAGE_PATIENCE_MS);
    const faults: string[] = [];
    context.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
    });
    context.on('weberror', (error) => faults.push(String(error.error())));
    const page = await context.newPage();
    const visit = new DeskVisit(origin, context, page, faults);
    if (account !== undefined) await visit.withWallet(account);
    return visit;
  }

  /** Takes over a session that was started without a browser. */
  async signedInAs({ cookies }: Visitor): Promise<void> {
    const own = [...cookies].map(([name, value]) => ({ name, value, url: this.origin }));
    await this.context.addCookies(own);
  }

  goto(path: string): Promise<unknown> {
    return this.page.goto(this.origin + path);
  }

  heading(name: string): Promise<void> {
    return this.page.getByRole('heading', { name, exact: true }).first().waitFor();
  }

  press(name: string, of: Pick<Locator, 'getByRole'> = this.page): Promise<void> {
    return of.getByRole('button', { name, exact: true }).click();
  }

  dialog(name: string): Locator {
    return this.page.getByRole('dialog', { name, exact: true });
  }

  /**
   * Returns the serious findings of axe on the current page in each look, and whether the page is wider than the
   * screen.
   */
  async findings(looks = LOOKS): Promise<string[]> {
    const { page } = this;
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    await page.waitForLoadState('networkidle');
    const found: string[] = [];
    for (const { width, colorScheme } of looks) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await this.settled();
      const faults = await graveFaults(page);
      found.push(...faults.map((fault) => `${width} px, ${colorScheme}: ${fault}`));
    }
    return found;
  }

  /** Waits until the page has drawn its state and has run the work deferred until then. */
  async settled(): Promise<void> {
    const drawn = 'requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))';
    await this.page.evaluate(`new Promise((done) => ${drawn})`);
  }

  private async withWallet(account: Account): Promise<void> {
    await this.page.exposeFunction('signByTest', (raw: `0x${string}`) =>
      account.signMessage({ message: { raw } }),
    );
    const info = {
      uuid: 'b1e4ad4c-0000-4000-8000-000000000000',
      ...{ name: WALLET_NAME, icon: 'data:,', rdns: 'test' },
    };
    await this.page.addInitScript(`{
      const request = async ({ method, params }) => {
        if (method === 'eth_requestAccounts') return ['${account.address}'];
        if (method === 'eth_chainId') return '0x1';
        if (method === 'personal_sign') return window.signByTest(params[0]);
        throw new Error(method);
      };
      const detail = Object.freeze({ info: ${JSON.stringify(info)}, provider: { request } });
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      addEventListener('eip6963:requestProvider', announce);
      announce();
    }`);
  }
}
