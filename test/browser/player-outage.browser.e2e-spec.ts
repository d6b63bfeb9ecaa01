import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing';
import { PlayerPage } from './player-page.js';
import { PlayerStage } from './player-stage.js';

let stage: PlayerStage;

beforeAll(async () => {
  stage = await PlayerStage.start();
});
afterAll(() => stage.stop());

async function aVisitor(account: string): Promise<PlayerPage> {
  stage.game.points.set(account, 10_000);
  return PlayerPage.open(stage, await stage.player(), account);
}

it('a service that is down is one sentence; what was begun goes on when it is back, and a voucher that is left gives the points back', async () => {
  const [first = '', second = ''] = stage.accounts;
  const player = await aVisitor(first);
  await player.signIn();
  await player.enter(1500);
  await stage.killRedemption();
  await player.button(/^Redeem 1,500/).click();
  await player.sees('There is no answer yet. This page goes on asking; nothing is done twice.');
  const visitor = await aVisitor(second);
  await visitor.sees('Redemptions cannot be reached at the moment');
  // From now on vouchers last ten seconds, which may begin before the test notices the start.
  await Promise.all([stage.startRedemption(10), player.isAt('claimable', { timeout: 60_000 })]);
  await visitor.button('Connect Test wallet').waitFor();
  expect(stage.game.points.get(first)).toBe(8500);
  await player.isAt('over');
  await eventually(async () => {
    await stage.finalise();
    return (await player.newest.getAttribute('data-phase')) === 'reverted';
  });
  await player.sees('The voucher was not claimed in time.');
  expect(stage.game.points.get(first)).toBe(10_000);
  await player.sees('10,000 points');
});
