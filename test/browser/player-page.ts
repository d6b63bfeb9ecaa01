/** The players' page, used through its visible texts as a player does. */
import { type BrowserContext, type Locator, type Page } from 'playwright-core';
import { PAGE_PATIENCE_MS } from '#libs/testing/browser';
import { messageOf } from '#libs/platform';
import { eventually } from '#libs/testing/clock';
import { PARTNER, type PlayerStage } from './player-stage.js';

/** Requests in a row that reach both replicas. The proxy takes turns. */
const ASKS = 6;

export class PlayerPage {
  private constructor(
    readonly page: Page,
    private readonly stage: PlayerStage,
    readonly account: string,
  ) {}

  static async open(
    stage: PlayerStage,
    context: BrowserContext,
    account: string,
  ): Promise<PlayerPage> {
    const page = await context.newPage();
    page.setDefaultTimeout(PAGE_PATIENCE_MS);
    await page.addInitScript(`localStorage.setItem('lowmark-test-account', '${account}')`);
    await page.goto('/redeem');
    return new PlayerPage(page, stage, account);
  }

  /** Opens another page in the same browser. */
  async another(): Promise<PlayerPage> {
    return PlayerPage.open(this.stage, this.page.context(), this.account);
  }

  async connect(wallet = 'Test wallet'): Promise<void> {
    await this.page.getByRole('button', { name: `Connect ${wallet}` }).click();
    await this.button('Sign in with your wallet').waitFor();
  }

  /**
   * Reloads the page once every replica of the service lists the partners. A replica caches its list for a moment, and
   * the page asks for it only once a minute.
   */
  async showPartners(names: readonly string[]): Promise<void> {
    const { request } = this.page.context();
    const areListed = async (): Promise<boolean> => {
      const answer = await request.get('/player/api/partners');
      if (!answer.ok()) return false;
      const { partners } = (await answer.json()) as { partners: { name: string }[] };
      return names.every((wanted) => partners.some(({ name }) => name === wanted));
    };
    const areListedByAll = async (): Promise<boolean> => {
      for (let ask = 0; ask < ASKS; ask++) if (!(await areListed())) return false;
      return true;
    };
    await eventually(areListedByAll, { withinMs: PAGE_PATIENCE_MS, everyMs: 250 });
    await this.page.reload();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  partner(name = PARTNER): Locator {
    return this.page.getByRole('article', { name, exact: true });
  }

  /** The newest redemption. */
  get newest(): Locator {
    return this.page.getByRole('region', { name: 'Your redemptions' }).getByRole('article').first();
  }

  async enter(points: number, partner = PARTNER): Promise<void> {
    const card = this.partner(partner);
    await this.orShow(card.getByLabel('How many points?').fill(String(points)));
    await this.orShow(card.getByText('You get').waitFor());
  }

  async redeem(points: number, partner = PARTNER): Promise<void> {
    await this.enter(points, partner);
    const button = this.partner(partner).getByRole('button', { name: /^Redeem [\d,]+ points$/ });
    await button.click();
  }

  /** Waits until the newest redemption is in this phase. */
  async isAt(phase: string, patience: { timeout?: number } = {}): Promise<void> {
    const newest = '[aria-labelledby="redemptions-title"] article:first-of-type';
    await this.orShow(this.page.locator(`${newest}[data-phase="${phase}"]`).waitFor(patience));
  }

  /** Sets the error with which the fake wallet answers these methods from now on; undefined: it answers all of them. */
  async walletFails(
    error: { readonly code: number; readonly message: string } | undefined,
    ...methods: readonly string[]
  ): Promise<void> {
    const fails = Object.fromEntries(methods.map((method) => [method, error]));
    await this.page.evaluate(`fakeWallet.fails = ${JSON.stringify(fails)}`);
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.orShow(this.page.getByText(text).first().waitFor());
  }

  /** Waits until the element with this name has the focus. */
  async hasFocus(name: string): Promise<void> {
    const named =
      'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent';
    await eventually(
      async () => (await this.page.evaluate<string>(named)) === name,
      PAGE_PATIENCE_MS,
    );
  }

  /** Adds the text of the page to the error of an action that fails. */
  private async orShow(action: Promise<void>): Promise<void> {
    try {
      await action;
    } catch (cause) {
      const shown = await this.page.locator('body').innerText();
      throw new Error(`${messageOf(cause)}\nThe page shows:\n${shown}`, { cause });
    }
  }
}
