/**
 * Checks each screen of the players' page on a phone in light mode and on a desktop in dark mode: no serious finding of
 * axe, and nothing cut off.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { graveFaults } from '#libs/testing';
import { PlayerPage } from './player-page.js';
import { PlayerStage } from './player-stage.js';

let stage: PlayerStage;

beforeAll(async () => {
  stage = await PlayerStage.start();
});
afterAll(() => stage.stop());

const LOOKS = [
  { width: 360, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const;
/** Where a longer language would be cut off. */
const NARROW = LOOKS.slice(0, 1);
/** Folder for screenshots of each screen; none where it is not set. */
const PICTURES = process.env['SCREENSHOTS'];

/** Opens the page with reduced motion, since a screenshot could otherwise show the middle of an animation. */
async function aVisitor(account: string, locale: string): Promise<PlayerPage> {
  stage.game.points.set(account, 12_500);
  return PlayerPage.open(stage, await stage.player({ reducedMotion: 'reduce', locale }), account);
}

/** The findings on the current screen. */
async function findings(
  { page }: PlayerPage,
  screen: string,
  looks = LOOKS.slice(),
): Promise<string[]> {
  const found: string[] = [];
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const faults = await graveFaults(page);
    found.push(...faults.map((fault) => `${width} ${colorScheme} ${fault}`));
    if (PICTURES !== undefined) {
      await page.screenshot({
        path: `${PICTURES}/${screen}-${width}-${colorScheme}.png`,
        fullPage: true,
      });
    }
  }
  return found;
}

it('every screen can be read and used by everyone', async () => {
  const player = await aVisitor(stage.accounts[0] ?? '', 'en-GB');
  await player.button('Connect Test wallet').waitFor();
  expect(await findings(player, '1-wallet')).toEqual([]);
  await player.connect();
  expect(await findings(player, '2-sign-in')).toEqual([]);
  await player.button('Sign in with your wallet').click();
  await player.sees('No redemptions yet');
  await player.enter(1500);
  expect(await findings(player, '3-quote')).toEqual([]);
  await player.button(/^Redeem 1,500/).click();
  await player.isAt('claimable');
  await player.button(/^Claim 100/).waitFor();
  expect(await findings(player, '4-voucher')).toEqual([]);
  await player.button('Cancel').click();
  await player.sees('Cancel this redemption?');
  expect(await findings(player, '5-cancel')).toEqual([]);
  await player.button('Keep it').click();
  await player.button(/^Claim 100/).click();
  await player.isAt('sent');
  expect(await findings(player, '6-sent')).toEqual([]);
  await stage.finalise();
  await player.isAt('claimed');
  await player.sees('11,000 points');
  expect(await findings(player, '7-claimed')).toEqual([]);
});

it('so can it in German', async () => {
  const player = await aVisitor(stage.accounts[2] ?? '', 'de-DE');
  expect(await player.page.locator('html').getAttribute('lang')).toBe('de');
  await player.button('Test wallet verbinden').waitFor();
  expect(await findings(player, 'de-1-wallet', NARROW)).toEqual([]);
  await player.button('Test wallet verbinden').click();
  await player.button('Mit der Wallet anmelden').waitFor();
  expect(await findings(player, 'de-2-sign-in', NARROW)).toEqual([]);
  await player.button('Mit der Wallet anmelden').click();
  await player.partner().getByRole('textbox').fill('1.500');
  await player.sees('Du bekommst');
  expect(await findings(player, 'de-3-quote', NARROW)).toEqual([]);
  await player.button('1.500 Punkte einlösen').click();
  await player.button('100 LOW abholen').waitFor();
  expect(await findings(player, 'de-4-voucher', NARROW)).toEqual([]);
  await player.button('Abbrechen').click();
  await player.sees('Diese Einlösung abbrechen?');
  expect(await findings(player, 'de-5-cancel', NARROW)).toEqual([]);
  await player.button('Ja, abbrechen').click();
  await player.page.locator('[data-phase="cancelling"]').waitFor();
  expect(await findings(player, 'de-6-cancelled', NARROW)).toEqual([]);
  const textContent = await player.page.locator('main').textContent();
  expect(textContent).not.toMatch(/points|Cancel|Claim|Loading/);
});

it('all of it works by keyboard', async () => {
  const account = stage.accounts[1] ?? '';
  stage.game.points.set(account, 5_000);
  const other = await PlayerPage.open(stage, await stage.player(), account);
  const press = async (name: RegExp): Promise<void> => {
    await other.button(name).waitFor();
    for (let tabs = 0; tabs < 40; tabs++) {
      await other.page.keyboard.press('Tab');
      const focused = String(await other.page.evaluate('document.activeElement?.textContent'));
      if (name.test(focused)) {
        await other.page.keyboard.press('Enter');
        return;
      }
    }
    throw new Error(`${String(name)} is not reached by Tab`);
  };
  await press(/^Connect Test wallet$/);
  await press(/^Sign in with your wallet$/);
  await press(/^All 5,000$/);
  await other.sees('You get');
  await press(/^Redeem 5,000 points$/);
  await other.isAt('claimable');
  await press(/^Claim 333/);
  await other.isAt('sent');
});
