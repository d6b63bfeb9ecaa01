/** Tests how the page tells a player of problems: of the wallet, the games, the price and the service. */
import { describe, expect, it } from '@jest/globals';
import { type BrowserContextOptions } from 'playwright-core';
import { graveFaults } from '#libs/testing/browser';
import { eventually } from '#libs/testing/clock';
import { VaultBench } from '#libs/testing/vault';
import { FAKE_WALLET } from './fake-wallet.js';
import { usePlayers } from './players.js';

const players = usePlayers();
/** Points of each player. */
const points = 3_000;
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

describe('in the wallet', () => {
  it('what is declined, or waits there, is named at each step, and can be tried again', async () => {
    const player = await players.visitor({ points, fake: {} });
    const declined = { code: 4001, message: 'User rejected the request.' };
    const busy = { code: -32_002, message: 'Already processing a request.' };
    const failed = { code: -32_603, message: 'Internal error' };
    const waits = 'Open your wallet: a request waits for you there.';

    for (const [error, says] of [
      [declined, 'You did not connect. You can try again.'],
      [busy, waits],
    ] as const) {
      await player.walletFails(error, 'eth_requestAccounts', 'wallet_requestPermissions');
      await player.button(`Connect ${FAKE_WALLET}`).click();
      await player.sees(says);
    }
    await player.walletFails(undefined);
    await player.connect(FAKE_WALLET);
    for (const [error, says] of [
      [declined, 'You did not sign. You can try again.'],
      [busy, waits],
      [failed, 'The wallet could not sign. You can try again.'],
    ] as const) {
      await player.walletFails(error, 'personal_sign');
      await player.button('Sign in with your wallet').click();
      await player.sees(says);
    }
    await player.walletFails(declined, 'eth_sendTransaction');
    await player.button('Sign in with your wallet').click();
    await player.redeem(1500);
    await player.isAt('claimable');
    await player.button(/^Claim 100/).click();
    await player.sees('You did not send it. You can try again until the time is over.');
    await player.walletFails(undefined);
    await player.button(/^Claim 100/).click();
    await player.isAt('sent');
  });

  it('a wrong network is named before points are taken; the wallet is told of no endpoint that there is not', async () => {
    const player = await players.player({ points, fake: { chainId: 1 } });
    await player.sees('Your wallet is on another network. Claiming needs Local chain.');
    const unknown = { code: 4902, message: 'Unrecognized chain ID.' };
    await player.walletFails(unknown, 'wallet_switchEthereumChain');
    await player.button('Switch to Local chain').click();
    await player.sees(
      `The wallet did not switch. Choose Local chain (chain ${players.stage.bench.chain.chainId}) in your wallet`,
    );
    const asked = await player.page.evaluate<string[]>('fakeWallet.asked');
    expect(asked).toContain('wallet_switchEthereumChain');
    expect(asked).not.toContain('wallet_addEthereumChain');
    await player.walletFails(undefined);
    await player.button('Switch to Local chain').click();
    await eventually(async () => (await player.button('Switch to Local chain').count()) === 0);
  });

  it('another account is noticed, and can sign in', async () => {
    const player = await players.player({ points, fake: {} });
    const other = players.account(points);
    await player.page.evaluate(
      `fakeWallet.account = '${other}'; fakeWallet.emit('accountsChanged', ['${other}'])`,
    );
    await player.sees(/Your wallet now shows another account/);
    await player.button('Sign in with that account').click();
    await player.page.locator(`strong[title="${other}"]`).waitFor();
    expect(await player.button('Sign in with that account').count()).toBe(0);
  });

  it('too little coin for the fee is named, before points are taken and at the claim', async () => {
    const player = await players.player({ points });
    const { rpc } = players.stage.bench.chain;
    await rpc.call('anvil_setBalance', player.account, '0x0');
    await player.page.reload();
    await player.sees(
      'Your wallet has no ETH. Claiming costs a network fee in ETH: add some first.',
    );
    await player.redeem(1500);
    await player.isAt('claimable');
    await player.button(/^Claim 100/).click();
    await player.sees('Your wallet has too little ETH for the network fee.');
    await rpc.call('anvil_setBalance', player.account, '0xde0b6b3a7640000');
    await player.button(/^Claim 100/).click();
    await player.isAt('sent');
  });

  it('a claim that the chain would refuse is not asked for', async () => {
    const player = await players.voucher({ fake: {} });
    const { bench } = players.stage;
    await bench.mineAt(bench.seconds + 1, bench.call(VaultBench.PAUSER, 'pause'));
    try {
      await player.button(/^Claim 100/).click();
      await player.sees(/The chain would refuse this claim at the moment/);
      const asked = await player.page.evaluate<string[]>('fakeWallet.asked');
      expect(asked).toContain('eth_estimateGas');
      expect(asked).not.toContain('eth_sendTransaction');
    } finally {
      await bench.mineAt(bench.seconds + 1, bench.call(bench.admin, 'unpause'));
    }
  });
});

it('what is refused is said in one sentence, before and after the click', async () => {
  const { game } = players.stage;
  const player = await players.player({ points });
  game.points.delete(player.account);
  await player.page.reload();
  await player.sees('This game does not know your wallet');
  await player.sees('Link it in the game.');
  expect(await player.button('Try again').count()).toBe(0);
  game.points.set(player.account, points);
  await player.page.reload();

  const field = player.partner().getByLabel('How many points?');
  await field.fill('12.5');
  await player.sees('Enter a whole number of points.');
  await field.fill('5000');
  await player.sees('You do not have so many points there.');
  expect(await player.button('Redeem').isDisabled()).toBe(true);
  await player.enter(2500);
  const errorCode = 'ERR-INTERNAL';
  game.next('get', () => ({ success: false, errorCode, errorMessage: 'secret stack' }));
  await player.button(/^Redeem 2,500/).click();
  await player.sees(/No points were taken/);
  expect(await player.page.innerText('body')).not.toMatch(/secret stack|ERR-|_/);
  expect(game.points.get(player.account)).toBe(points);
});

it('a refusal of a while ago is not told as if it were of now', async () => {
  const player = await players.player({ points });
  await player.enter(1500);
  const { behave } = players.stage.game;
  players.stage.game.behave = () => {
    throw new Error('the game is down');
  };
  try {
    await player.button(/^Redeem 1,500/).click();
    await player.sees(/The game cannot be reached at the moment\. No points were taken\./);
  } finally {
    players.stage.game.behave = behave;
  }
  await player.page
    .getByText('Your last try came to nothing, and no points were taken. You can try again.')
    .waitFor({ timeout: 60_000 });
});

it('a price that is held is told above all games, before anything is typed', async () => {
  const player = await players.player({ points });
  await player.sees(/^worth about/);
  const sql = (text: string) => players.stage.database.open().then(({ pool }) => pool.query(text));
  await sql(
    `INSERT INTO staking.price_hold (reason, before_usd, max_change, usd, source, observed_at)
      VALUES ('jump', 0.15, 0.2, 1.5, 'fixed', now())`,
  );
  try {
    await player.page.reload();
    await player.sees('Nothing can be redeemed at the moment');
    await player.sees(/redemptions go on when the operator has checked it/);
    await player.sees('3,000 points');
  } finally {
    await sql('DELETE FROM staking.price_hold');
  }
});

describe('without a wallet', () => {
  it.each<[string, BrowserContextOptions]>([
    ['a desktop', {}],
    ['a phone', PHONE],
  ])('%s says where there is one, with at most 250 kB of script', async (_, browser) => {
    const context = await players.context(browser);
    await context.addInitScript(
      'addEventListener("eip6963:announceProvider", (e) => e.stopImmediatePropagation(), true)',
    );
    const page = await context.newPage();
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (!/\.js$/.test(new URL(request.url()).pathname)) return;
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto('/redeem', { waitUntil: 'networkidle' });
    await page.getByText('Never share its recovery phrase').waitFor();
    const link = (name: string) => page.getByRole('link', { name, exact: true });
    if (browser === PHONE) {
      const app = await link('Open in MetaMask').getAttribute('href');
      expect(app).toBe(`https://metamask.app.link/dapp/${new URL(page.url()).host}/redeem`);
      expect(await graveFaults(page)).toEqual([]);
    } else {
      expect(await link('MetaMask').getAttribute('href')).toBe('https://metamask.io/download');
    }
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(250_000);
  });
});

it('a service that hangs is named, on an open page and on a new one', async () => {
  const player = await players.player({ points });
  await player.enter(1500);
  const text = player.page.getByText('Redemptions do not answer at the moment.');
  players.stage.hangRedemption();
  try {
    await text.waitFor({ timeout: 60_000 });
    expect(await player.page.getByText('cannot be reached').count()).toBe(0);
    await player.page.reload();
    // The proxy takes hanging replicas out after some 17 s and answers for them, so the new page may know at once.
    const named = /Redemptions (do not answer|cannot be reached) at the moment/;
    await player.page.getByText(named).first().waitFor();
  } finally {
    players.stage.resumeRedemption();
  }
  await player.sees('3,000 points');
  await text.waitFor({ state: 'detached' });
});

// From here on there are more games than one.
it('among many games, one that is down is one sentence; a voucher comes first and stays in sight on a phone', async () => {
  const names = Array.from({ length: 9 }, (_, index) => `Game ${String(index + 10)}`);
  const hostile = ['<img src=x onerror=alert(1)>', '‮evil‬ שלום', '🎲'.repeat(63)];
  for (const name of names) await players.stage.addPartner(name, { maxPoints: 1_600n });
  for (const name of hostile) await players.stage.addPartner(name, { url: 'http://127.0.0.1:9' });
  const player = await players.player({ points, browser: PHONE });
  // Browsers have no crypto.randomUUID on a page by http.
  await player.page.addInitScript('delete Crypto.prototype.randomUUID');
  const answers: string[] = [];
  player.page.on('response', (answer) => {
    const { pathname } = new URL(answer.url());
    if (/points|limits|quote/.test(pathname)) answers.push(`${answer.status()} ${pathname}`);
  });
  await player.showPartners([...names, ...hostile]);
  expect(await player.page.evaluate('typeof crypto.randomUUID')).toBe('undefined');
  for (const name of names) {
    await player.partner(name).getByText('3,000 points', { exact: true }).waitFor();
    await player.partner(name).getByText('1 to 1,600 points at the moment.').waitFor();
    await player.partner(name).getByRole('button', { name: 'Max 1,600' }).waitFor();
  }
  for (const name of hostile) {
    await player.partner(name).getByText('The game cannot be reached at the moment.').waitFor();
  }
  expect(await player.page.locator('img[src="x"]').count()).toBe(0);
  const wide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  expect(await player.page.evaluate(wide)).toBe(false);
  expect([...new Set(answers)]).toEqual(['200 /player/api/points']);

  await player.redeem(1500);
  await player.isAt('claimable');
  const topOf = async (name: string) =>
    (await player.page.getByRole('region', { name }).boundingBox())?.y ?? Number.NaN;
  expect(await topOf('Your redemptions')).toBeLessThan(await topOf('Your points'));
  const bar = player.button('Go to your 100 LOW');
  expect(await bar.count()).toBe(0);
  await player.partner(names.at(-1)).scrollIntoViewIfNeeded();
  await player.sees(/left to claim/);
  await bar.click();
  await bar.waitFor({ state: 'detached' });
  await player.button(/^Claim 100/).click({ trial: true });
});

// Comes last: afterwards vouchers last ten seconds.
it('a service that is down is one sentence; what was begun goes on when it is back, and a voucher that is left gives the points back', async () => {
  const { stage } = players;
  const player = await players.player();
  await player.enter(1500);
  await stage.killRedemption();
  await player.button(/^Redeem 1,500/).click();
  await player.sees('There is no answer yet. This page goes on asking; nothing is done twice.');
  const visitor = await players.visitor();
  await visitor.sees('Redemptions cannot be reached at the moment');
  // From now on vouchers last ten seconds, which may begin before the test notices the start.
  await Promise.all([stage.startRedemption(10), player.isAt('claimable', { timeout: 60_000 })]);
  await visitor.button('Connect Test wallet').waitFor();
  expect(stage.game.points.get(player.account)).toBe(8500);
  await player.isAt('over');
  await eventually(async () => {
    await stage.finalise();
    return (await player.newest.getAttribute('data-phase')) === 'reverted';
  });
  await player.sees('The voucher was not claimed in time.');
  expect(stage.game.points.get(player.account)).toBe(10_000);
  await player.partner().getByText('10,000 points', { exact: true }).waitFor();
});
