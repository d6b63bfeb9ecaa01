/**
 * Tests how a player redeems: on every screen, in German and by keyboard, with the page closed in between, and with more
 * than one click, tab or redemption.
 */
import { describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { excessWidth, graveFaults } from '#libs/testing/browser';
import { eventually } from '#libs/testing/clock';
import { type PlayerPage } from './player-page.js';
import { PARTNER } from './player-stage.js';
import { usePlayers } from './players.js';

const players = usePlayers();

/** Mines blocks until the newest redemption is in this phase. */
async function minedUntil(player: PlayerPage, phase: string): Promise<void> {
  await eventually(async () => {
    await players.stage.finalise();
    return (await player.newest.getAttribute('data-phase')) === phase;
  });
}

const tokensOf = (player: PlayerPage) => players.stage.bench.tokens(player.account as Address);
const TOKEN = 10n ** 18n;

// Comes first, while there is one game only.
describe('from the wallet to the tokens', () => {
  const PHONE = { width: 360, height: 800 };
  const DESKTOP = { width: 1280, height: 800 };

  /** The findings of axe on the current screen: all of them on a phone in light, and those of another look. */
  async function findings({ page }: PlayerPage): Promise<string[]> {
    await page.setViewportSize(PHONE);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    const found = await graveFaults(page);
    await page.setViewportSize(DESKTOP);
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    return [...found, ...(await graveFaults(page, 'look'))];
  }

  it('a player connects, signs in, redeems and claims, on screens that everyone can use', async () => {
    const player = await players.visitor({ points: 12_500 });
    await player.button('Connect Test wallet').waitFor();
    expect(await findings(player)).toEqual([]);
    await player.connect();
    expect(await findings(player)).toEqual([]);
    await player.button('Sign in with your wallet').click();
    await player.sees('No redemptions yet');
    await player.sees('12,500 points');
    await player.enter(1500);
    expect(await findings(player)).toEqual([]);
    await player.button(/^Redeem 1,500/).click();
    await player.isAt('claimable');
    expect(players.stage.game.points.get(player.account)).toBe(11_000);
    await player.sees('11,000 points');
    await player.sees(/If you do not claim, your points come back by .*, at the latest\./);
    await player.button(/^Claim 100 LOW$/).waitFor();
    expect(await findings(player)).toEqual([]);
    await player.button('Cancel').click();
    await player.sees('Cancel this redemption?');
    expect(await findings(player)).toEqual([]);
    await player.button('Keep it').click();
    await player.button(/^Claim 100 LOW$/).click();
    await player.isAt('sent');
    expect(await findings(player)).toEqual([]);
    await players.stage.mine();
    await player.isAt('inBlock');
    await players.stage.finalise();
    await player.isAt('claimed');
    await player.sees('You have 100 LOW');
    expect(await tokensOf(player)).toBe(100n * TOKEN);
    expect(await findings(player)).toEqual([]);
  });

  it('so can it be in German, which is longer', async () => {
    const browser = { locale: 'de-DE', viewport: PHONE };
    const player = await players.visitor({ points: 12_500, browser });
    const fits = async (): Promise<void> => {
      expect(await excessWidth(player.page)).toBeLessThanOrEqual(0);
    };
    expect(await player.page.locator('html').getAttribute('lang')).toBe('de');
    await player.button('Test wallet verbinden').waitFor();
    await fits();
    await player.button('Test wallet verbinden').click();
    await player.button('Mit der Wallet anmelden').waitFor();
    await fits();
    await player.button('Mit der Wallet anmelden').click();
    await player.partner().getByRole('textbox').fill('1.500');
    await player.sees('Du bekommst');
    await fits();
    await player.button('1.500 Punkte einlösen').click();
    await player.button('100 LOW abholen').waitFor();
    await fits();
    await player.button('Abbrechen').click();
    await player.sees('Diese Einlösung abbrechen?');
    await fits();
    await player.button('Ja, abbrechen').click();
    await player.page.locator('[data-phase="cancelling"]').waitFor();
    expect(await graveFaults(player.page)).toEqual([]);
    const textContent = await player.page.locator('main').textContent();
    expect(textContent).not.toMatch(/points|Cancel|Claim|Loading/);
  });

  it('all of it works by keyboard, and the focus goes to what each step has made', async () => {
    const player = await players.visitor({ points: 5_000 });
    const { keyboard } = player.page;
    const reach = async (name: RegExp): Promise<void> => {
      await player.button(name).waitFor();
      for (let tabs = 0; tabs < 40; tabs++) {
        await keyboard.press('Tab');
        const focused = String(await player.page.evaluate('document.activeElement?.textContent'));
        if (name.test(focused)) return;
      }
      throw new Error(`${String(name)} is not reached by Tab`);
    };
    const press = async (name: RegExp): Promise<void> => {
      await reach(name);
      await keyboard.press('Enter');
    };
    await press(/^Connect Test wallet$/);
    await player.hasFocus('Sign in');
    await press(/^Sign in with your wallet$/);
    await player.hasFocus('Your points');
    await press(/^All 5,000$/);
    await player.sees('You get');
    await press(/^Redeem 5,000 points$/);
    await player.isAt('claimable');
    await player.hasFocus('5,000 points, Arena');
    expect(
      await player.page.evaluate('getComputedStyle(document.activeElement).outlineStyle'),
    ).toBe('solid');
    await reach(/^Claim 333/);
    await press(/^Cancel$/);
    await player.hasFocus('Keep it');
    await keyboard.press('Escape');
    await player.hasFocus('Cancel');
    expect(await player.page.getByText('Cancel this redemption?').count()).toBe(0);
    await keyboard.press('Enter');
    await player.hasFocus('Keep it');
    await keyboard.press('Enter');
    await player.hasFocus('Cancel');
    await player.button(/^Claim 333/).focus();
    await keyboard.press('Enter');
    await player.isAt('sent');
    await player.hasFocus('5,000 points, Arena');
    await player.button('Sign out').focus();
    await keyboard.press('Enter');
    await player.hasFocus('Sign in');
  });

  it('the focus stays with a claim that was declined, and a redemption that is cancelled', async () => {
    const player = await players.voucher({ fake: {} });
    const { keyboard } = player.page;
    await player.walletFails({ code: 4001, message: 'No.' }, 'eth_sendTransaction');
    await player.button(/^Claim 100/).focus();
    await keyboard.press('Enter');
    await player.sees('You did not send it.');
    await player.hasFocus('Claim 100 LOW');
    await player.button('Cancel').click();
    await player.button('Yes, cancel it').focus();
    await keyboard.press('Enter');
    await player.isAt('cancelling');
    await player.hasFocus('1,500 points, Arena');
  });
});

it('a redemption that is cancelled gives the points back, and says so before', async () => {
  const player = await players.voucher();
  await player.button('Cancel').click();
  await player.sees('Cancel this redemption?');
  await player.sees(/You can then no longer claim the tokens/);
  await player.button('Yes, cancel it').click();
  await player.isAt('cancelling');
  expect(await player.button(/^Claim/).count()).toBe(0);
  await minedUntil(player, 'reverted');
  await player.sees('Your points are back');
  await player.sees('10,000 points');
  expect(await tokensOf(player)).toBe(0n);
});

describe('a page that is closed and opened again', () => {
  it('goes on before the signature, with a voucher, and after the claim was sent', async () => {
    const reopened = async (player: PlayerPage): Promise<PlayerPage> => {
      await player.page.close();
      return player.another();
    };
    const first = await players.visitor();
    await first.connect();
    const second = await reopened(first);
    await second.button('Sign in with your wallet').click();
    await second.redeem(1500);
    await second.isAt('claimable');
    const third = await reopened(second);
    await third.isAt('claimable');
    await third.button(/^Claim 100/).click();
    await third.isAt('sent');
    const last = await reopened(third);
    await last.isAt('sent');
    await players.stage.finalise();
    await last.isAt('claimed');
    expect(await tokensOf(last)).toBe(100n * TOKEN);
  });

  it('before the answer to a redemption: it is made once', async () => {
    const player = await players.player();
    let unheard = 0;
    await player.page.route('**/player/api/redemptions', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      // The service receives the request; the page gets no answer.
      await route.fetch();
      await route.abort();
      unheard++;
    });
    await player.redeem(1500);
    await eventually(() => unheard > 0);
    await eventually(() => players.stage.game.points.get(player.account) === 8500);
    await player.page.close();
    const again = await player.another();
    await again.isAt('claimable');
    await again.sees('8,500 points');
    expect(await again.page.locator('[data-phase]').count()).toBe(1);
    // The list may arrive before the answer to the repeated click.
    const clicks = 'Object.keys(localStorage).filter((key) => key.startsWith("lowmark-click"))';
    await eventually(async () => (await again.page.evaluate<string[]>(clicks)).length === 0);
  });
});

it('a double click is one redemption, and two tabs agree', async () => {
  const first = await players.player();
  const second = await first.another();
  await second.button('Sign out').waitFor();
  await first.enter(1500);
  await first.button(/^Redeem 1,500 points$/).dblclick();
  await second.isAt('claimable');
  expect(await second.page.locator('[data-phase]').count()).toBe(1);
  expect(players.stage.game.points.get(first.account)).toBe(8500);
  await second.button(/^Claim 100/).click();
  await first.isAt('sent');
  await second.button('Sign out').click();
  await first.button('Sign in with your wallet').waitFor();
  await first.sees('You are signed out.');
});

it('typed points stay over a sign-in', async () => {
  const player = await players.player();
  await player.enter(1500);
  await player.sees(
    /^The price is renewed .* If you would get fewer tokens by then, nothing is taken/,
  );
  await player.page.context().clearCookies();
  // The requests after the reconnect find that the session has ended.
  await player.page.context().setOffline(true);
  await player.sees('You are offline.');
  await player.page.context().setOffline(false);
  await player.page
    .getByText('Your session has ended. Sign in again; everything is where you left it.')
    .waitFor({ timeout: 60_000 });
  await player.button('Sign in with your wallet').click();
  await player.button(/^Redeem 1,500/).waitFor();
});

it('a cancellation without a connection is sent when there is one', async () => {
  const player = await players.voucher();
  await player.page.context().setOffline(true);
  await player.sees('You are offline.');
  await player.button('Cancel').click();
  await player.sees(/your points come back by .*, at the latest\.$/);
  await player.button('Yes, cancel it').click();
  await player.sees('There is no answer yet. This page goes on asking; nothing is done twice.');
  await player.page.context().setOffline(false);
  await player.isAt('cancelling');
  expect(await player.page.getByText('You are offline.').count()).toBe(0);
});

it('a price that moves before the click takes nothing, and shows the new figure', async () => {
  const player = await players.player();
  await player.enter(1500);
  await player.partner().getByText('100 LOW').first().waitFor();
  // Delays the new quote until the click, so that the page does not know the new price before.
  const clicked = player.page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().endsWith('/player/api/redemptions'),
  );
  await player.page.route('**/quote?*', async (route) => {
    await clicked;
    await route.continue();
  });
  await players.stage.setPrice('0.3');
  try {
    await player.button(/^Redeem 1,500/).click();
    await player.sees('The price has moved: you would have got less than was shown.');
    expect(players.stage.game.points.get(player.account)).toBe(10_000);
    await player.partner().getByText('50 LOW', { exact: true }).first().waitFor();
    await player.button(/^Redeem 1,500/).click();
    await player.button('Claim 50 LOW').waitFor();
    expect(players.stage.game.points.get(player.account)).toBe(8_500);
  } finally {
    await players.stage.setPrice('0.15');
  }
});

// Comes last: from here on there are more games than one.
it('redemptions of before are shown page by page, also where a click is answered before the list', async () => {
  const player = await players.player();
  const context = player.page.context();
  const others = ['Second', 'Third'];
  for (const name of others) await players.stage.addPartner(name);
  await player.showPartners(others);
  for (const name of others) {
    await player.redeem(1000, name);
    await player.page.getByRole('article', { name: `1,000 points, ${name}` }).waitFor();
  }
  // The player closes the page before the answer to the third click arrives.
  await player.page.route('**/player/api/redemptions', (route) => route.abort());
  await player.redeem(1500);
  await player.sees('There is no answer yet.');
  await player.page.close();
  const answered = context.waitForEvent('response', (response) => {
    return response.request().method() === 'POST' && response.url().endsWith('/redemptions');
  });
  // Changes the page size from twenty to one, and delays the list until the click is answered.
  await context.route('**/player/api/redemptions?limit=20*', async (route) => {
    await answered;
    await route.continue({ url: route.request().url().replace('limit=20', 'limit=1') });
  });
  const again = await player.another();
  const names = [`1,500 points, ${PARTNER}`, '1,000 points, Third', '1,000 points, Second'];
  await again.page.getByRole('article', { name: names[0] as string }).waitFor();
  const list = again.page.locator('[data-phase]');
  for (let shown = 1; shown < names.length; shown++) {
    await again.button('Show older ones').click();
    await list.nth(shown).waitFor();
    expect(await list.count()).toBe(shown + 1);
  }
  const shown = await list.evaluateAll((cards) =>
    cards.map((card) => (card as unknown as { ariaLabel: string }).ariaLabel),
  );
  expect(shown).toEqual(names);
  await again.button('Show older ones').waitFor({ state: 'detached' });
});
