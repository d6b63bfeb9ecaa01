/** A separate browser context for one user of the operators' or the partners' pages. */
import { randomBytes } from 'node:crypto';
import { type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { PAGE_PATIENCE_MS } from '#libs/testing/browser';
import {
  type Account,
  type ConsoleBench,
} from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';

export const WALLET_NAME = 'Test <b>wallet</b>';

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
