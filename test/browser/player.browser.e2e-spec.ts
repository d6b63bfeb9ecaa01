/**
 * Tests how a player redeems: from the wallet to the tokens, with the page closed in between, and in rarer cases such
 * as a contract wallet, a moving price, and many redemptions.
 */
import { describe, expect, it } from '@jest/globals';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Address } from '#libs/domain';
import { eventually } from '#libs/testing/clock';
import { VaultBench } from '#libs/testing/vault';
import { ContractWallets, walletSignature } from '#libs/testing/wallets';
import { FAKE_WALLET, fakeWalletScript } from './fake-wallet.js';
import { PlayerPage } from './player-page.js';
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

it('a player connects, signs in, redeems, and claims tokens', async () => {
  const player = await players.player();
  await player.sees('10,000 points');
  await player.redeem(1500);
  await player.isAt('claimable');
  expect(players.stage.game.points.get(player.account)).toBe(8500);
  await player.sees('8,500 points');
  await player.sees(/If you do not claim, your points come back by .*, at the latest\./);
  await player.button(/^Claim 100 LOW$/).click();
  await player.isAt('sent');
  await players.stage.mine();
  await player.isAt('inBlock');
  await players.stage.finalise();
  await player.isAt('claimed');
  await player.sees('You have 100 LOW');
  expect(await tokensOf(player)).toBe(100n * TOKEN);
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

describe('in the wallet', () => {
  it('what was declined can be tried again: connecting, signing, sending', async () => {
    const rejects = ['eth_requestAccounts', 'wallet_requestPermissions'];
    const player = await players.visitor({ fake: { rejects } });
    const owner = (rejected: readonly string[]) =>
      player.page.evaluate(`fakeWallet.rejects = ${JSON.stringify(rejected)}`);
    await player.button(`Connect ${FAKE_WALLET}`).click();
    await player.sees('You did not connect. You can try again.');
    await owner(['personal_sign']);
    await player.connect(FAKE_WALLET);
    await player.button('Sign in with your wallet').click();
    await player.sees('You did not sign. You can try again.');
    await owner(['eth_sendTransaction']);
    await player.button('Sign in with your wallet').click();
    await player.redeem(1500);
    await player.isAt('claimable');
    await player.button(/^Claim 100/).click();
    await player.sees('You did not send it. You can try again until the time is over.');
    await owner([]);
    await player.button(/^Claim 100/).click();
    await player.isAt('sent');
  });

  it('a claim that the chain would refuse is not asked for', async () => {
    const player = await players.voucher({ fake: {} });
    await players.stage.bench.mineAt(
      players.stage.bench.seconds + 1,
      players.stage.bench.call(VaultBench.PAUSER, 'pause'),
    );
    try {
      await player.button(/^Claim 100/).click();
      await player.sees(/The chain would refuse this claim at the moment/);
      const asked = await player.page.evaluate<string[]>('fakeWallet.asked');
      expect(asked).toContain('eth_estimateGas');
      expect(asked).not.toContain('eth_sendTransaction');
    } finally {
      await players.stage.bench.mineAt(
        players.stage.bench.seconds + 1,
        players.stage.bench.call(players.stage.bench.admin, 'unpause'),
      );
    }
  });

  it('another account is noticed, and can sign in', async () => {
    const player = await players.player({ fake: {} });
    const other = players.account();
    await player.page.evaluate(
      `fakeWallet.account = '${other}'; fakeWallet.emit('accountsChanged', ['${other}'])`,
    );
    await player.sees(/Your wallet now shows another account/);
    await player.button('Sign in with that account').click();
    await player.page.locator(`strong[title="${other}"]`).waitFor();
    expect(await player.button('Sign in with that account').count()).toBe(0);
  });

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
});

describe('a page that is closed and opened again', () => {
  it('before the signature: the wallet is still connected', async () => {
    const player = await players.visitor();
    await player.connect();
    await player.page.close();
    const again = await player.another();
    await again.button('Sign in with your wallet').click();
    await again.button('Sign out').waitFor();
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

  it('with a voucher, and after the claim was sent: it goes on from there', async () => {
    const player = await players.voucher();
    await player.page.close();
    const again = await player.another();
    await again.isAt('claimable');
    await again.button(/^Claim 100/).click();
    await again.isAt('sent');
    await again.page.close();
    const last = await player.another();
    await last.isAt('sent');
    await players.stage.finalise();
    await last.isAt('claimed');
    expect(await tokensOf(player)).toBe(100n * TOKEN);
  });
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

it('a double click is one redemption', async () => {
  const player = await players.player();
  await player.enter(1500);
  await player.button(/^Redeem 1,500 points$/).dblclick();
  await player.isAt('claimable');
  expect(await player.page.locator('[data-phase]').count()).toBe(1);
  expect(players.stage.game.points.get(player.account)).toBe(8500);
});

it('two tabs agree', async () => {
  const first = await players.player();
  const second = await first.another();
  await second.button('Sign out').waitFor();
  await first.redeem(1500);
  await second.isAt('claimable');
  await second.button(/^Claim 100/).click();
  await first.isAt('sent');
  await second.button('Sign out').click();
  await first.button('Sign in with your wallet').waitFor();
  await first.sees('You are signed out.');
});

it('what is refused is said in one sentence, before and after the click', async () => {
  const player = await players.player({ points: 3_000 });
  const field = player.partner().getByLabel('How many points?');
  await field.fill('12.5');
  await player.sees('Enter a whole number of points.');
  await field.fill('5000');
  await player.sees('You do not have so many points there.');
  expect(await player.button('Redeem').isDisabled()).toBe(true);
  await player.enter(2500);
  players.stage.game.next('get', () => ({
    success: false,
    errorCode: 'ERR-INTERNAL',
    errorMessage: 'secret stack',
  }));
  await player.button(/^Redeem 2,500/).click();
  await player.sees(/No points were taken/);
  expect(await player.page.innerText('body')).not.toMatch(/secret stack|ERR-|_/);
  expect(players.stage.game.points.get(player.account)).toBe(3000);
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
  try {
    await player.button(/^Redeem 1,500/).click();
    await player.sees('The price has moved: you would have got less than was shown.');
    expect(players.stage.game.points.get(account)).toBe(10_000);
    await player.partner().getByText('50 LOW', { exact: true }).first().waitFor();
    await player.button(/^Redeem 1,500/).click();
    await player.button('Claim 50 LOW').waitFor();
    expect(players.stage.game.points.get(account)).toBe(8_500);
  } finally {
    await players.stage.setPrice('0.15');
  }
});

// From here on there are more games than one.
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

it('before a wallet is chosen at most 250 kB of script are loaded', async () => {
  const context = await players.context();
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (!/\.js$/.test(new URL(request.url()).pathname)) return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto('/redeem', { waitUntil: 'networkidle' });
  await page.getByRole('heading', { name: 'Connect your wallet' }).waitFor();
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(250_000);
});

it('a game that is down is one sentence, and the others go on; names are shown harmlessly', async () => {
  const names = ['<img src=x onerror=alert(1)>', '‮evil‬ שלום', '🎲'.repeat(63)];
  const [silent = ''] = names;
  for (const name of names) await players.stage.addPartner(name, { url: 'http://127.0.0.1:9' });
  const player = await players.player({ browser: { viewport: { width: 360, height: 740 } } });
  await player.showPartners(names);
  await player.partner(silent).getByText('The game cannot be reached at the moment.').waitFor();
  await player.partner().getByText('10,000 points', { exact: true }).waitFor();
  await player.partner(names[2]).waitFor();
  expect(await player.page.locator('img[src="x"]').count()).toBe(0);
  const wide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  expect(await player.page.evaluate(wide)).toBe(false);
});
