/** Each screen of the players' page on a phone and on a desktop, in light and in dark: no finding of axe that keeps people out, nothing cut. */
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PlayerPage } from './player-page.js';
import { PlayerStage } from './player-stage.js';

let stage: PlayerStage;
let player: PlayerPage;

beforeAll(async () => {
  stage = await PlayerStage.start();
  const account = stage.accounts[0] ?? '';
  stage.game.points.set(account, 12_500);
  player = await PlayerPage.open(stage, await stage.player({ reducedMotion: 'reduce' }), account);
}, 120_000);
afterAll(() => stage.stop());

const WIDTHS = [360, 1280];
const SCHEMES = ['light', 'dark'] as const;
/** Where to leave pictures of each screen, to look at. */
const PICTURES = process.env['SCREENSHOTS'];

/** What is wrong with the screen as it is now. */
async function findings(screen: string): Promise<string[]> {
  const { page } = player;
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const { violations } = await new AxeBuilder({ page }).analyze();
      for (const { id, impact, nodes } of violations) {
        if (impact !== 'serious' && impact !== 'critical') continue;
        found.push(`${width} ${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      }
      if (PICTURES !== undefined) {
        await page.screenshot({
          path: `${PICTURES}/${screen}-${width}-${colorScheme}.png`,
          fullPage: true,
        });
      }
    }
    const isCut = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    if ((await page.evaluate(isCut)) === true) found.push(`${width}: wider than the screen`);
  }
  return found;
}

it('every screen can be read and used by everyone', async () => {
  await player.button('Connect Test wallet').waitFor();
  expect(await findings('1-wallet')).toEqual([]);
  await player.connect();
  expect(await findings('2-sign-in')).toEqual([]);
  await player.button('Sign in with your wallet').click();
  await player.sees('No redemptions yet');
  await player.enter(1500);
  expect(await findings('3-quote')).toEqual([]);
  await player.button(/^Redeem 1,500/).click();
  await player.isAt('claimable');
  await player.button(/^Claim 100/).waitFor();
  expect(await findings('4-voucher')).toEqual([]);
  await player.button('Cancel').click();
  await player.sees('Cancel this redemption?');
  expect(await findings('5-cancel')).toEqual([]);
  await player.button('Keep it').click();
  await player.button(/^Claim 100/).click();
  await player.isAt('sent');
  expect(await findings('6-sent')).toEqual([]);
  await stage.finalise();
  await player.isAt('claimed');
  await player.sees('11,000 points');
  expect(await findings('7-claimed')).toEqual([]);
}, 120_000);

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
}, 60_000);
