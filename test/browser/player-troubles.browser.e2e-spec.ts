/**
 * Tests problems during a player's visit, and rarer cases: contract wallets, no connection, a moving price,
 * many redemptions.
 */
import { expect, it } from '@jest/globals';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ContractWallets, eventually, walletSignature } from '#libs/testing';
import { FAKE_WALLET, fakeWalletScript } from './fake-wallet.js';
import { PlayerPage } from './player-page.js';
import { usePlayers } from './players.js';
import { PARTNER } from './player-stage.js';

const players = usePlayers();

it('a contract wallet signs in (EIP-1271)', async () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const wallet = await new ContractWallets(
    players.stage.bench.chain,
    players.stage.bench.seconds,
  ).of(owner);
  await players.stage.finalise();
  players.stage.game.points.set(wallet, 4_321);
  const context = await players.context();
  await context.exposeFunction('signByOwner', (hex: string) =>
    walletSignature(owner, Buffer.from(hex.slice(2), 'hex').toString()),
  );
  await context.addInitScript(fakeWalletScript(wallet, { signer: 'signByOwner' }));
  const player = await PlayerPage.open(players.stage, context, wallet);
  await player.signIn(FAKE_WALLET);
  await player.sees('4,321 points');
});

it('without a connection the page says so and keeps what it shows; back, it shows what has happened', async () => {
  const account = players.account();
  const context = await players.context();
  const player = await PlayerPage.open(players.stage, context, account);
  await player.signIn();
  await player.redeem(1500);
  await player.isAt('claimable');
  await context.setOffline(true);
  await player.sees('You are offline.');
  const elsewhere = await PlayerPage.open(players.stage, await players.context(), account);
  await elsewhere.signIn();
  await elsewhere.button('Cancel').click();
  await elsewhere.button('Yes, cancel it').click();
  await elsewhere.isAt('cancelling');
  await player.isAt('claimable');
  await context.setOffline(false);
  await player.isAt('cancelling');
  expect(await player.page.getByText('You are offline.').count()).toBe(0);
});

it('redemptions of before are shown page by page', async () => {
  const partners = [PARTNER, 'Second', 'Third'];
  for (const name of partners.slice(1)) await players.stage.addPartner(name);
  const context = await players.context();
  // Changes the page size from twenty to one.
  await context.route('**/player/api/redemptions?limit=20*', (route) =>
    route.continue({ url: route.request().url().replace('limit=20', 'limit=1') }),
  );
  const player = await PlayerPage.open(players.stage, context, players.account());
  await player.signIn();
  await player.showPartners(partners);
  for (const name of partners) {
    await player.redeem(1000, name);
    await player.page.getByRole('article', { name: `1,000 points, ${name}` }).waitFor();
  }
  await player.page.reload();
  const list = player.page.locator('[data-phase]');
  await list.first().waitFor();
  for (let shown = 1; shown < partners.length; shown++) {
    expect(await list.count()).toBe(shown);
    await player.button('Show older ones').click();
    await list.nth(shown).waitFor();
  }
  const names = await list.evaluateAll((cards) =>
    cards.map((card) => (card as unknown as { ariaLabel: string }).ariaLabel),
  );
  expect(names).toEqual([...partners].reverse().map((name) => `1,000 points, ${name}`));
  await player.button('Show older ones').waitFor({ state: 'detached' });
});

it('a click that is answered before the list has come hides none of the older ones', async () => {
  const context = await players.context();
  const player = await PlayerPage.open(players.stage, context, players.account());
  await player.signIn();
  await player.redeem(1000);
  await player.isAt('claimable');
  await player.button('Cancel').click();
  await player.button('Yes, cancel it').click();
  await player.isAt('cancelling');
  await eventually(async () => {
    await players.stage.finalise();
    return (await player.newest.getAttribute('data-phase')) === 'reverted';
  });
  // The player closes the page before the answer arrives.
  await player.page.route('**/player/api/redemptions', (route) => route.abort());
  await player.redeem(1500);
  await player.sees('There is no answer yet.');
  await player.page.close();
  const answered = context.waitForEvent('response', (response) => {
    return response.request().method() === 'POST' && response.url().endsWith('/redemptions');
  });
  await context.route('**/player/api/redemptions?limit=20*', async (route) => {
    await answered;
    await route.continue({ url: route.request().url().replace('limit=20', 'limit=1') });
  });
  const again = await player.another();
  await again.page.getByRole('article', { name: `1,500 points, ${PARTNER}` }).waitFor();
  await again.button('Show older ones').click();
  await again.page.getByRole('article', { name: `1,000 points, ${PARTNER}` }).waitFor();
});

it('a price that moves before the click takes nothing, and shows the new figure', async () => {
  const account = players.account();
  const player = await PlayerPage.open(players.stage, await players.context(), account);
  await player.signIn();
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
  await player.button(/^Redeem 1,500/).click();
  await player.sees('The price has moved: you would have got less than was shown.');
  expect(players.stage.game.points.get(account)).toBe(10_000);
  await player.partner().getByText('50 LOW', { exact: true }).first().waitFor();
  await player.button(/^Redeem 1,500/).click();
  await player.button('Claim 50 LOW').waitFor();
  expect(players.stage.game.points.get(account)).toBe(8_500);
});

it('typed points stay over a sign-in', async () => {
  const player = await players.visitor();
  await player.signIn();
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
