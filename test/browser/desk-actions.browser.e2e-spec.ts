/**
 * Tests what operators do: manage partners, resolve redemptions, sign in again within the page if an action needs it,
 * and give and withdraw the rights of people.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { IndexStore, RedemptionStore } from '#libs/db';
import { dayText } from '#libs/domain';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { testEvidence } from '#libs/testing/evidence';
import {
  type Account,
  ADMIN,
  anAccount,
  OPERATOR,
  VIEWER,
} from '../../apps/console/src/testing/console-harness.support.js';
import { seedIndex } from '../../apps/console/src/testing/operate-rows.support.js';
import { DeskBench } from '../console/desk.support.js';
import {
  FIRST,
  REASON,
  seedPublications,
  transactionOf,
} from '../console/registry-rows.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit, WALLET_NAME } from './desk-visit.js';

/** Names of buttons that change nothing. */
const LOOKS = [
  ...['Skip the menu', 'Ask the chain', 'Details', 'Sign out', 'Show', 'Show all', 'Next'],
  'Look it up',
];

const REGISTRY = aWallet(0xe9);

const desk = useDesk((place) => DeskBench.start({ REGISTRY_ADDRESS: REGISTRY }, place));
let visit: DeskVisit;

/** Expects that a dialog with something that is shown once is closed by its own button only. */
async function staysOpen({ page }: DeskVisit, dialog: Locator): Promise<void> {
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  expect(await dialog.getByRole('button', { name: 'Close', exact: true }).count()).toBe(0);
  expect(await dialog.isVisible()).toBe(true);
}

describe('partners and redemptions', () => {
  const NAME = `<img src=x onerror="document.title='taken'"> ${'🎮'.repeat(20)}`;

  let page: Page;
  beforeEach(async () => {
    visit = await desk.operator();
    ({ page } = visit);
  });

  const heading = (name: string) => visit.heading(name);
  const press = (name: string, of?: Locator) => visit.press(name, of);
  const dialog = () => page.getByRole('dialog');
  const follow = (name: string) => page.getByRole('link', { name, exact: true }).first().click();

  /** Reads the shared secret that a dialog shows until the operator has it, and closes the dialog. */
  async function takeCredential(): Promise<string> {
    const shown = dialog().getByLabel('Shared secret', { exact: true });
    const secret = await shown.inputValue();
    await staysOpen(visit, dialog());
    expect(await shown.inputValue()).toBe(secret);
    await press('I have them: forget them here', dialog());
    await dialog().waitFor({ state: 'detached' });
    return secret;
  }

  it('a partner is created, rotated, revoked, paused; its secret is shown once', async () => {
    await visit.goto('/operate');
    await follow('Partners');
    await heading('Partners');
    await press('New partner');
    await dialog().getByText('The partner gets its first credential').waitFor();
    await dialog().getByLabel('Name').fill(NAME);
    const rate = dialog().getByLabel('Requests per second');
    await rate.fill('0');
    await dialog().getByText('A whole number, at least 1.').waitFor();
    const create = dialog().getByRole('button', { name: 'New partner', exact: true });
    expect(await create.isDisabled()).toBe(true);
    expect(await rate.inputValue()).toBe('0');
    await rate.fill('7');
    await create.click();
    const secret = await takeCredential();
    expect(secret).not.toBe('');
    await follow(NAME);
    await heading(NAME);
    await eventually(async () => (await page.title()) === `${NAME} · Lowmark`);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.content()).not.toContain(secret);

    await press('Change');
    const fields = {
      'Callback URL': 'https://game.example/v1',
      'Callback key': 'a-key-of-the-game-1234',
      'Callback secret': 'the-secret-of-the-game',
      'USD per point': '0.01',
      'Tokens in a UTC day': '1000',
    };
    for (const [label, text] of Object.entries(fields)) {
      await dialog().getByLabel(label, { exact: true }).fill(text);
    }
    await press('Set', dialog());
    await dialog().waitFor({ state: 'detached' });
    await page.getByText('https://game.example/v1').waitFor();
    expect(await page.content()).not.toContain('the-secret-of-the-game');

    await press('Add a credential');
    await press('Add a credential', dialog());
    await takeCredential();
    const revokers = page.getByRole('button', { name: /^Revoke svck_/ });
    await revokers.nth(1).waitFor();
    await revokers.first().click();
    await dialog().getByText('This cannot be taken back.').waitFor();
    await dialog()
      .getByRole('button', { name: /^Revoke svck_/ })
      .click();
    await dialog().waitFor({ state: 'detached' });
    await revokers.nth(1).waitFor({ state: 'detached' });
    // Revoking the last credential asks for a second confirmation.
    await revokers.first().click();
    const revoke = dialog().getByRole('button', { name: /^Revoke svck_/ });
    expect(await revoke.isDisabled()).toBe(true);
    await dialog().getByRole('checkbox').check();
    await revoke.click();
    await dialog().waitFor({ state: 'detached' });
    await revokers.first().waitFor({ state: 'detached' });

    await press('Pause');
    await dialog().getByText('No new redemptions are taken').waitFor();
    await press('Pause', dialog());
    await page.getByText('paused', { exact: true }).waitFor();
  });

  it('a stuck redemption is found from the overview in three clicks, and resolved', async () => {
    const partner = await desk.bench.game('Stuck <b>');
    const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved');
    await visit.goto('/operate');
    await heading('Overview');
    await follow('Redemptions');
    await follow(id);
    await heading(id);
    await page.getByText('an operator.').first().waitFor();
    await press('End it: the partner took no points');
    await dialog().getByRole('heading', { name: 'End it: the partner took no points?' }).waitFor();
    await dialog().getByText(`Redemption ${id} ends as failed`).waitFor();
    const end = dialog().getByRole('button', { name: 'End it: the partner took no points' });
    expect(await end.isDisabled()).toBe(true);
    await dialog().getByLabel('Reason').fill('Asked by phone: it is not in their books.');
    await end.click();
    await page.getByText('attention -> failed').waitFor();
    await visit.goto(`/operate/log`);
    await page.getByText('reason: Asked by phone: it is not in their books.').waitFor();
  });
});

it('an invitation is accepted by a person who is a member until removed, or withdrawn', async () => {
  const partner = await desk.bench.game('Inviting <b>');
  const admin = await desk.operator();
  await admin.goto(`/operate/partners/${partner}`);
  /** @returns the link that the dialog shows until the operator has it */
  const invite = async (note: string): Promise<string> => {
    await admin.press('Invite');
    const dialog = admin.dialog('Invite');
    await dialog.getByLabel('Whom it is for').fill(note);
    await admin.press('Invite', dialog);
    const url = await dialog.getByLabel('The link', { exact: true }).inputValue();
    await staysOpen(admin, dialog);
    await admin.press('I have it: forget it here', dialog);
    await dialog.waitFor({ state: 'detached' });
    return url;
  };
  const [toAnn, toBob] = [await invite('ann'), await invite('bob')];
  await admin.press('Withdraw: bob');
  const invitations = admin.page.getByRole('region', { name: 'Invitations' });
  await invitations.getByRole('cell', { name: 'withdrawn', exact: true }).waitFor();
  const [audit] = await desk.bench.audit();
  const actor = `operator:${ADMIN.address.toLowerCase()}`;
  expect(audit).toMatchObject({ actor, command: 'partner withdraw-invitation', partner });
  const bob = await desk.open(anAccount());
  await bob.page.goto(toBob);
  await bob.page.getByText('was used, withdrawn or has expired').waitFor();

  const ann = await desk.open(anAccount());
  await ann.page.goto(toAnn);
  await ann.press(`Sign in with ${WALLET_NAME}`);
  await ann.heading('Inviting <b>');
  expect(ann.page.url()).not.toContain(new URL(toAnn).hash.slice(1));
  await admin.page.reload();
  await invitations.getByRole('cell', { name: 'accepted', exact: true }).waitFor();
  const remove = { name: /^Remove 0x/ };
  await admin.page.getByRole('button', remove).click();
  await admin.page.getByRole('dialog').getByRole('button', remove).click();
  await admin.page.getByText('No member yet.').waitFor();
  await ann.page.reload();
  await ann.heading('Sign in for a partner');
});

it('a viewer sees every page, and no action that could be taken', async () => {
  const partner = await desk.bench.game('Seen');
  const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved');
  const viewer = await desk.operator(VIEWER);
  const enabled = async (path: string): Promise<string[]> => {
    await viewer.goto(path);
    await viewer.page.getByRole('heading', { level: 1 }).waitFor();
    await viewer.page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    await viewer.page.waitForLoadState('networkidle');
    const buttons = viewer.page.locator(`main button:visible:not([disabled]):not([role=tab])`);
    return [...new Set(await buttons.allTextContents())].filter((name) => !LOOKS.includes(name));
  };
  await viewer.goto('/operate');
  await viewer.heading('Overview');
  const menu = viewer.page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  const links = await menu.all();
  const paths = await Promise.all(links.map((link) => link.getAttribute('href')));
  expect(paths.length).toBeGreaterThan(10);
  for (const path of [...paths, `/operate/partners/${partner}`, `/operate/redemptions/${id}`]) {
    expect([path, await enabled(path ?? '')]).toEqual([path, []]);
  }
  // The same page offers actions to an admin.
  const admin = await desk.operator();
  await admin.goto(`/operate/partners/${partner}`);
  for (const name of ['Pause', 'Change', 'Add a credential', 'Invite', 'Ping now']) {
    await admin.page.getByRole('button', { name, exact: true }).waitFor();
  }
});

it('redemptions without the MAC of the service are adopted by an admin who has looked at them, as by the command', async () => {
  const isSealed = async (id: string): Promise<boolean> => {
    const store = new RedemptionStore(desk.bench.console.database, testEvidence());
    return (await store.get(id as never))?.isSealed === true;
  };
  const partner = await desk.bench.game('Adopted');
  const { id } = await desk.bench.stored(partner, 'deducted');
  expect(await isSealed(id)).toBe(false);
  const operator = await desk.operator(OPERATOR);
  await operator.goto('/operate/adoption');
  await operator.page.getByRole('link', { name: id }).waitFor();
  await operator.page.getByText('Only the role admin may do this.').waitFor();

  const admin = await desk.operator();
  await admin.goto('/operate');
  await admin.page.getByRole('link', { name: 'Adoption' }).click();
  await admin.page.getByRole('link', { name: id }).waitFor();
  // This redemption changes while the admin looks at the list, so it is not adopted.
  const moved = await desk.bench.stored(partner, 'created');
  const adopt = admin.page.getByRole('button', { name: /^Adopt / });
  await adopt.click();
  const dialog = admin.page.getByRole('dialog');
  await dialog.getByText('Each of these can be paid, or its deduction reverted').waitFor();
  const confirm = dialog.getByRole('button', { name: /^Adopt / });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByRole('checkbox').check();
  await confirm.click();
  await admin.page
    .getByRole('status')
    .getByText(/^Adopted: \d+\./)
    .waitFor();
  expect([await isSealed(id), await isSealed(moved.id)]).toEqual([true, false]);
  const byPage = (await desk.bench.audit(50)).find((row) => row.redemption_id === id);
  const actor = `operator:${ADMIN.address.toLowerCase()}`;
  expect((await desk.bench.cli('redemption', 'adopt', '--yes', '--as', 'mia')).code).toBe(0);
  const byCommand = (await desk.bench.audit(50)).find((row) => row.redemption_id === moved.id);
  expect(byPage).toEqual({ ...byCommand, actor, redemption_id: id });
  await admin.page.reload();
  await admin.page.getByText('Every open redemption bears the MAC of the service.').waitFor();
});

describe('a fresh sign-in that an action needs', () => {
  const MINUTE = 60_000;
  const SIGN = `Sign in with ${WALLET_NAME}`;
  const AGAIN = 'Sign in again';

  /** Opens a browser with a session that is ten minutes old. */
  async function signedInBefore(account: Account): Promise<void> {
    desk.bench.console.clock.set(Date.now() - 10 * MINUTE);
    const visitor = await desk.bench.console.signedIn(account);
    desk.bench.console.clock.set(Date.now());
    visit = await desk.open(account);
    await visit.signedInAs(visitor);
  }

  /** Fills in and sends the form of a new partner, and waits for the request to sign in again. */
  async function create(name: string): Promise<void> {
    await visit.goto('/operate/partners');
    await visit.press('New partner');
    const form = visit.dialog('New partner');
    await form.getByLabel('Name').fill(name);
    await form.getByLabel('Requests per second').fill('7');
    await visit.press('New partner', form);
    await visit.dialog(AGAIN).waitFor();
  }

  async function partners(name: string): Promise<{ name: string; rate: number }[]> {
    const { rows } = await desk.bench.console.database.pool.query<{ name: string; rate: number }>(
      'SELECT name, rate FROM partners.partner WHERE name = $1',
      [name],
    );
    return rows;
  }

  it('by a wallet, also after Escape: the partner is created with what was typed', async () => {
    await signedInBefore(ADMIN);
    await create('By a wallet');
    await visit.page.keyboard.press('Escape');
    await visit.dialog(AGAIN).waitFor({ state: 'detached' });
    expect(await partners('By a wallet')).toEqual([]);
    const form = visit.dialog('New partner');
    await form.getByRole('alert').waitFor();
    expect(await form.getByLabel('Name').inputValue()).toBe('By a wallet');
    await visit.press('New partner', form);
    await visit.press(SIGN, visit.dialog(AGAIN));
    await visit.page.getByLabel('Shared secret', { exact: true }).waitFor();
    expect(await partners('By a wallet')).toEqual([{ name: 'By a wallet', rate: 7 }]);
    await visit.press('I have them: forget them here');
    // The next action is within five minutes of the sign-in, so it needs no other.
    await visit.page.getByRole('link', { name: 'By a wallet' }).click();
    await visit.press('Change');
    await visit.dialog('Terms and callback').getByLabel('Requests at once').fill('55');
    await visit.press('Set', visit.dialog('Terms and callback'));
    await visit.dialog('Terms and callback').waitFor({ state: 'detached' });
  });

  it('by the organisation, in a window that closes itself; the callback secret stays in the form', async () => {
    desk.bench.console.issuer.groups.set('ann', ['ops']);
    const id = await desk.bench.game('By OIDC');
    visit = await desk.open();
    const { page } = visit;
    const signInAtIssuer = async (at = page): Promise<void> => {
      await at.locator('input[name=login]').fill('ann');
      await at.locator('input[name=password]').fill('any');
      await at.locator('button[type=submit]').click();
    };
    await visit.goto(`/operate/partners/${id}`);
    await visit.press('Sign in with your organisation');
    await signInAtIssuer();
    await visit.heading('By OIDC');
    desk.bench.console.clock.advance(6 * MINUTE);
    await visit.press('Change');
    const form = visit.dialog('Terms and callback');
    await form.getByLabel('Callback secret', { exact: true }).fill('another-secret-of-the-game');
    await visit.press('Set', form);
    await visit.dialog(AGAIN).waitFor();
    desk.bench.console.clock.set(Date.now());
    const opened = page.waitForEvent('popup');
    await visit.press('Sign in with your organisation', visit.dialog(AGAIN));
    const popup = await opened;
    const closed = popup.waitForEvent('close');
    await signInAtIssuer(popup);
    await closed;
    await form.waitFor({ state: 'detached' });
    const [row] = await desk.bench.audit();
    expect(row).toMatchObject({ command: 'partner set', partner: id, outcome: 'done' });
    const stored = 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, history.state])';
    expect(await page.evaluate(stored)).not.toContain('another-secret');
  });

  it('by a link in another window of the browser', async () => {
    const id = await desk.bench.game('By link');
    visit = await desk.open();
    const { clock } = desk.bench.console;
    clock.set(Date.now() - 10 * MINUTE);
    await visit.goto(`/sign-in/link#${await desk.bench.console.link()}`);
    await visit.heading('Overview');
    clock.set(Date.now());
    await visit.goto(`/operate/partners/${id}`);
    await visit.press('Add a credential');
    await visit.press('Add a credential', visit.dialog('Add a credential'));
    await visit
      .dialog(AGAIN)
      .getByText(/^\.\/lowmark console link --role admin --name '[a-z0-9-]+'$/)
      .waitFor();
    await visit.press('I have signed in in another window', visit.dialog(AGAIN));
    await visit.page.getByText('still older than five minutes').waitFor();
    const other = await visit.context.newPage();
    await other.goto(`${visit.origin}/sign-in/link#${await desk.bench.console.link()}`);
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
    await visit.press('I have signed in in another window', visit.dialog(AGAIN));
    await visit.page.getByLabel('Shared secret', { exact: true }).waitFor();
  });

  it('as another person: nothing is done before it is looked at again', async () => {
    desk.bench.console.clock.set(Date.now() - 10 * MINUTE);
    visit = await desk.open(ADMIN);
    await visit.goto(`/sign-in/link#${await desk.bench.console.link()}`);
    await visit.heading('Overview');
    desk.bench.console.clock.set(Date.now());
    await create('Of another person');
    await visit.press(SIGN, visit.dialog(AGAIN));
    await visit.page.getByText(/^You are signed in as 0x.* now\./).waitFor();
    await visit.press('Back to it', visit.dialog(AGAIN));
    expect(await partners('Of another person')).toEqual([]);
    const form = visit.dialog('New partner');
    expect(await form.getByLabel('Name').inputValue()).toBe('Of another person');
    await visit.press('New partner', form);
    await visit.page.getByLabel('Shared secret', { exact: true }).waitFor();
    expect(await partners('Of another person')).toHaveLength(1);
  });
});

it('the page of the registry has the last day with its transaction, what waits, and what is held back and why', async () => {
  const { database } = desk.bench.console;
  visit = await desk.operator(VIEWER);
  const card = visit.page.getByRole('region', { name: 'Registry', exact: true });
  await visit.goto('/operate/registry');
  await card.getByText('There is no index yet').waitFor();
  await seedIndex(database, Date.now());
  await visit.page.reload();
  await card.getByText('nothing was due yet', { exact: true }).waitFor();
  await card.getByText('six hours after it was sealed').waitFor();

  const { chainId = 0 } = (await new IndexStore(database).state()) ?? {};
  await seedPublications(database, { chainId, registry: REGISTRY }, Date.now());
  await visit.page.reload();
  await card.getByText(REGISTRY).waitFor();
  await card.getByText('needs attention').waitFor();
  await card.getByText('Of 1 publication the registry holds another root').waitFor();
  await card.getByText(`with another root than on chain: ${dayText(FIRST)}.`).waitFor();
  const fact = (name: string): Promise<string> => {
    const label = visit.page.getByText(name, { exact: true });
    return card.locator('dl').filter({ has: label }).locator('dd').innerText();
  };
  expect(await fact('Last day in a final block')).toContain(dayText(FIRST + 1));
  expect(await fact('Its transaction')).toBe(transactionOf(FIRST + 1));
  const counts = { Final: '2', 'In a block that is not final': '1', Waiting: '1' };
  for (const [name, count] of Object.entries(counts)) {
    expect([name, await fact(name)]).toEqual([name, count]);
  }
  const table = visit.page.getByRole('region', { name: 'Publications, the newest first' });
  const texts = await table.locator('tbody tr td:first-child').allInnerTexts();
  expect(texts.map((text) => text.trim().slice(-10))).toEqual(
    [4, 3, 2, 1, 0].map((offset) => dayText(FIRST + offset)),
  );
  const refused = table.getByRole('row').filter({ hasText: dayText(FIRST + 3) });
  await refused.getByText('refused', { exact: true }).waitFor();
  await refused.getByText(REASON).waitFor();
  expect(await visit.page.locator('img').count()).toBe(0);
});
