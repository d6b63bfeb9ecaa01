/**
 * Tests that an action with a fresh sign-in asks for it within the page: the form keeps its content, and the action
 * continues.
 */
import { expect, it } from '@jest/globals';
import { type Account, ADMIN } from '../../apps/console/src/testing/console-harness.support.js';
import { DeskBench } from '../console/desk.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit, WALLET_NAME } from './desk-visit.js';

const MINUTE = 60_000;
const SIGN = `Sign in with ${WALLET_NAME}`;
const AGAIN = 'Sign in again';

const desk = useDesk((place) => DeskBench.start({}, place));
let visit: DeskVisit;

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

it('by a wallet: the partner is created with what was typed', async () => {
  await signedInBefore(ADMIN);
  await create('By a wallet');
  expect(await partners('By a wallet')).toEqual([]);
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

it('left with Escape, the form is still there, and can be sent again', async () => {
  await signedInBefore(ADMIN);
  await create('Left');
  await visit.page.keyboard.press('Escape');
  await visit.dialog(AGAIN).waitFor({ state: 'detached' });
  const form = visit.dialog('New partner');
  await form.getByRole('alert').waitFor();
  expect(await form.getByLabel('Name').inputValue()).toBe('Left');
  await visit.press('New partner', form);
  await visit.press(SIGN, visit.dialog(AGAIN));
  await visit.page.getByLabel('Shared secret', { exact: true }).waitFor();
  expect(await partners('Left')).toHaveLength(1);
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
