/**
 * Tests that every player can use the page: each screen on a phone and a desktop, in light and dark, in German and by
 * keyboard, and problems of the wallet, the connection and the service.
 */
import { describe, expect, it } from '@jest/globals';
import { graveFaults, PAGE_PATIENCE_MS } from '#libs/testing/browser';
import { eventually } from '#libs/testing/clock';
import { FAKE_WALLET, type FakeWalletOptions } from './fake-wallet.js';
import { PlayerPage } from './player-page.js';
import { usePlayers } from './players.js';

const players = usePlayers();

// Comes first, while there is one game only.
describe('a screen', () => {
  const LOOKS = [
    { width: 360, colorScheme: 'light' },
    { width: 1280, colorScheme: 'dark' },
  ] as const;
  /** Where a longer language would be cut off. */
  const NARROW = LOOKS.slice(0, 1);
  /** Folder for screenshots of each screen; none where it is not set. */
  const PICTURES = process.env['SCREENSHOTS'];

  /** Opens the page with reduced motion, since a screenshot could otherwise show the middle of an animation. */
  const aCalmVisitor = (locale: string) =>
    players.visitor({ points: 12_500, browser: { reducedMotion: 'reduce', locale } });

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
    const player = await aCalmVisitor('en-GB');
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
    await players.stage.finalise();
    await player.isAt('claimed');
    await player.sees('11,000 points');
    expect(await findings(player, '7-claimed')).toEqual([]);
  });

  it('so can it in German', async () => {
    const player = await aCalmVisitor('de-DE');
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
    const other = await players.visitor({ points: 5_000 });
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
});

/** Points of each player. */
const points = 3_000;
const aVisitor = (fake?: FakeWalletOptions) => players.visitor({ points, fake });
const aPlayer = (fake?: FakeWalletOptions) => players.player({ points, fake });
const aVoucher = (fake?: FakeWalletOptions) => players.voucher({ points, fake });

/** Sets the error with which the wallet answers a method from now on. */
const fails = (player: PlayerPage, method: string, code: number, message: string) =>
  player.page.evaluate(
    `fakeWallet.fails[${JSON.stringify(method)}] = ${JSON.stringify({ code, message })}`,
  );

const focused = (player: PlayerPage) =>
  player.page.evaluate<string>(
    'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
  );

/** Waits until the element with this name has the focus. */
async function hasFocus(player: PlayerPage, name: string): Promise<void> {
  await eventually(async () => (await focused(player)) === name, PAGE_PATIENCE_MS);
}

describe('in the wallet', () => {
  it('a request that waits there is named, at each step', async () => {
    const player = await aVisitor({});
    const waits = 'Open your wallet: a request waits for you there.';
    const busy = [-32_002, 'Already processing a request.'] as const;
    await fails(player, 'wallet_requestPermissions', ...busy);
    await fails(player, 'eth_requestAccounts', ...busy);
    await player.button(`Connect ${FAKE_WALLET}`).click();
    await player.sees(waits);
    await player.page.evaluate('fakeWallet.fails = {}');
    await player.connect(FAKE_WALLET);
    await fails(player, 'personal_sign', ...busy);
    await player.button('Sign in with your wallet').click();
    await player.sees(waits);
    await fails(player, 'personal_sign', -32_603, 'Internal error');
    await player.button('Sign in with your wallet').click();
    await player.sees('The wallet could not sign. You can try again.');
  });

  it('a wrong network is named before points are taken; the wallet is told of no endpoint that there is not', async () => {
    const player = await aPlayer({ chainId: 1 });
    await player.sees('Your wallet is on another network. Claiming needs Local chain.');
    await fails(player, 'wallet_switchEthereumChain', 4902, 'Unrecognized chain ID.');
    await player.button('Switch to Local chain').click();
    await player.sees(
      `The wallet did not switch. Choose Local chain (chain ${players.stage.bench.chain.chainId}) in your wallet`,
    );
    const asked = await player.page.evaluate<string[]>('fakeWallet.asked');
    expect(asked).toContain('wallet_switchEthereumChain');
    expect(asked).not.toContain('wallet_addEthereumChain');
    await player.page.evaluate('fakeWallet.fails = {}');
    await player.button('Switch to Local chain').click();
    await eventually(async () => (await player.button('Switch to Local chain').count()) === 0);
  });

  it('too little coin for the fee is named, before points are taken and at the claim', async () => {
    const player = await aVisitor();
    await players.stage.bench.chain.rpc.call('anvil_setBalance', player.account, '0x0');
    await player.signIn();
    await player.sees(
      'Your wallet has no ETH. Claiming costs a network fee in ETH: add some first.',
    );
    await player.redeem(1500);
    await player.isAt('claimable');
    await player.button(/^Claim 100/).click();
    await player.sees('Your wallet has too little ETH for the network fee.');
    await players.stage.bench.chain.rpc.call(
      'anvil_setBalance',
      player.account,
      '0xde0b6b3a7640000',
    );
    await player.button(/^Claim 100/).click();
    await player.isAt('sent');
  });
});

describe('by keyboard', () => {
  it('the focus goes to what each step has made, and back where nothing was', async () => {
    const player = await aVisitor();
    const { keyboard } = player.page;
    const press = async (name: string | RegExp): Promise<void> => {
      await player.button(name).focus();
      await keyboard.press('Enter');
    };
    await press('Connect Test wallet');
    await hasFocus(player, 'Sign in');
    await press('Sign in with your wallet');
    await hasFocus(player, 'Your points');
    await player.enter(1500);
    await player.partner().getByLabel('How many points?').focus();
    await keyboard.press('Enter');
    await player.isAt('claimable');
    await hasFocus(player, '1,500 points, Arena');
    expect(
      await player.page.evaluate('getComputedStyle(document.activeElement).outlineStyle'),
    ).toBe('solid');
    await press('Cancel');
    await hasFocus(player, 'Keep it');
    await keyboard.press('Escape');
    await hasFocus(player, 'Cancel');
    expect(await player.page.getByText('Cancel this redemption?').count()).toBe(0);
    await keyboard.press('Enter');
    await press('Keep it');
    await hasFocus(player, 'Cancel');
    await press(/^Claim 100/);
    await player.isAt('sent');
    await hasFocus(player, '1,500 points, Arena');
    await press('Sign out');
    await hasFocus(player, 'Sign in');
  });

  it('it stays with a redemption that is cancelled, and a claim that was declined', async () => {
    const player = await aVoucher({ rejects: ['eth_sendTransaction'] });
    await player.button(/^Claim 100/).focus();
    await player.page.keyboard.press('Enter');
    await player.sees('You did not send it.');
    await hasFocus(player, 'Claim 100 LOW');
    await player.button('Cancel').click();
    await player.button('Yes, cancel it').focus();
    await player.page.keyboard.press('Enter');
    await player.isAt('cancelling');
    await hasFocus(player, '1,500 points, Arena');
  });
});

it('a page by http redeems as well, where browsers have no crypto.randomUUID', async () => {
  const context = await players.context();
  await context.addInitScript('delete Crypto.prototype.randomUUID');
  const player = await PlayerPage.open(players.stage, context, players.account(points));
  expect(await player.page.evaluate('typeof crypto.randomUUID')).toBe('undefined');
  await player.signIn();
  await player.redeem(1500);
  await player.isAt('claimable');
});

it('a wallet that the game does not know is told to be linked', async () => {
  const player = await aVisitor();
  players.stage.game.points.delete(player.account);
  await player.signIn();
  await player.sees('This game does not know your wallet');
  await player.sees('Link it in the game.');
  expect(await player.button('Try again').count()).toBe(0);
});

it('a cancellation without a connection is sent when there is one', async () => {
  const player = await aVoucher();
  await player.page.context().setOffline(true);
  await player.sees('You are offline.');
  await player.button('Cancel').click();
  await player.sees(/your points come back by .*, at the latest\.$/);
  await player.button('Yes, cancel it').click();
  await player.sees('There is no answer yet. This page goes on asking; nothing is done twice.');
  await player.page.context().setOffline(false);
  await player.isAt('cancelling');
});

it('a service that hangs is named, on an open page and on a new one', async () => {
  const player = await aPlayer();
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

it('a refusal of a while ago is not told as if it were of now', async () => {
  const player = await aPlayer();
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

describe('on a phone', () => {
  const browser = {
    ...{ viewport: { width: 390, height: 740 }, isMobile: true, hasTouch: true },
  };

  it('a voucher comes first and stays in sight, among many games', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `Game ${String(index + 10)}`);
    for (const name of names) await players.stage.addPartner(name, { maxPoints: 1_600n });
    const player = await players.player({ points, browser });
    const answers: string[] = [];
    player.page.on('response', (answer) => {
      const { pathname } = new URL(answer.url());
      if (/points|limits|quote/.test(pathname)) answers.push(`${answer.status()} ${pathname}`);
    });
    await player.showPartners(names);
    for (const name of names) {
      await player.partner(name).getByText('3,000 points', { exact: true }).waitFor();
      await player.partner(name).getByText('1 to 1,600 points at the moment.').waitFor();
      await player.partner(name).getByRole('button', { name: 'Max 1,600' }).waitFor();
    }
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

  it('who has no wallet gets one, or opens the page in its app', async () => {
    const hidden =
      'addEventListener("eip6963:announceProvider", (e) => e.stopImmediatePropagation(), true)';
    const open = async (options: object) => {
      const context = await players.context(options);
      await context.addInitScript(hidden);
      const page = await context.newPage();
      await page.goto('/redeem');
      await page.getByText('Never share its recovery phrase').waitFor();
      expect(await graveFaults(page)).toEqual([]);
      return page;
    };
    const link = (name: string) => ({ name, exact: true });
    const phone = await open(browser);
    const app = await phone.getByRole('link', link('Open in MetaMask')).getAttribute('href');
    expect(app).toBe(`https://metamask.app.link/dapp/${new URL(phone.url()).host}/redeem`);
    const desktop = await open({});
    const site = await desktop.getByRole('link', link('MetaMask')).getAttribute('href');
    expect(site).toBe('https://metamask.io/download');
  });
});

it('a price that is held is told above all games, before anything is typed', async () => {
  const player = await aPlayer();
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

// Comes last: afterwards vouchers last ten seconds.
it('a service that is down is one sentence; what was begun goes on when it is back, and a voucher that is left gives the points back', async () => {
  const { stage } = players;
  const player = await players.visitor();
  await player.signIn();
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
