/** Tests addresses that an operator types into the address bar, or receives from a colleague. */
import { expect, it } from '@jest/globals';
import { anAccount } from '../../apps/console/src/testing/console-harness.support.js';
import { DeskBench } from '../console/desk.support.js';
import { useDesk } from './desk.js';
import { WALLET_NAME } from './desk-visit.js';

const HOSTILE = '<img src=x onerror=alert(1)> אבג';

const desk = useDesk((place) => DeskBench.start({}, place));

it('the name of a partner leads to the partner, and one that there is not to the list', async () => {
  const partner = await desk.bench.game(HOSTILE);
  const visit = await desk.operator();
  await visit.goto(`/operate/partners/${encodeURIComponent(HOSTILE)}`);
  await visit.heading(HOSTILE);
  expect(new URL(visit.page.url()).pathname).toBe(`/operate/partners/${partner}`);
  await visit.goto('/operate/partners/onerror');
  await visit.page.getByText('No partner is called “onerror”.').waitFor();
  await visit.page.getByRole('link', { name: 'All partners' }).click();
  expect(await visit.page.getByLabel('Part of the name').inputValue()).toBe('onerror');
  await visit.page.getByRole('link', { name: HOSTILE }).waitFor();
});

it('what is no wallet is said once, without what cannot help', async () => {
  const visit = await desk.operator();
  await visit.goto('/operate/wallets/foo');
  await visit.page.getByText('This is no address').waitFor();
  expect(await visit.page.getByRole('alert').count()).toBe(1);
  expect(await visit.page.getByRole('button', { name: /Try again|Compare/ }).count()).toBe(0);
  await visit.page.getByRole('link', { name: 'Look up another wallet' }).click();
  await visit.heading('Wallets');
});

it('a search of redemptions is in the address, which shows the same to another', async () => {
  const partner = await desk.bench.game('Sent');
  const { id } = await desk.bench.stored(partner, 'claimed');
  const visit = await desk.operator();
  await visit.goto('/operate/redemptions');
  await visit.page.getByRole('tab', { name: 'Search' }).click();
  await visit.page.getByLabel('Id or its beginning').fill('xyz');
  await visit.press('Find');
  await visit.page.getByText('Hexadecimal digits and dashes, from the start').waitFor();
  await visit.page.getByLabel('Id or its beginning').fill(id.slice(0, 13));
  await visit.page.getByLabel('State', { exact: true }).selectOption('claimed');
  await visit.page.getByLabel('From (UTC)').fill('2020-01-02T03:04');
  await visit.press('Find');
  await visit.page.waitForURL(/state=claimed/);

  const other = await desk.operator();
  await other.page.goto(visit.page.url());
  await other.page.getByRole('link', { name: id }).waitFor();
  expect(await other.page.getByLabel('Id or its beginning').inputValue()).toBe(id.slice(0, 13));
  expect(await other.page.getByLabel('From (UTC)').inputValue()).toBe('2020-01-02T03:04');
  await other.goto('/operate/redemptions?id=xyz');
  await other.page.getByRole('alert').getByText('hexadecimal digits').waitFor();
});

it('for whom an invitation is may be 200 characters of any size, and no more', async () => {
  const visit = await desk.operator();
  await visit.goto(`/operate/partners/${await desk.bench.game('Emoji')}`);
  await visit.press('Invite');
  const dialog = visit.dialog('Invite');
  const note = dialog.getByRole('textbox', { name: 'Whom it is for' });
  await note.fill('🎲'.repeat(255));
  await dialog.getByText('At most 200 characters; these are 255.').waitFor();
  const invite = dialog.getByRole('button', { name: 'Invite', exact: true });
  expect(await invite.isDisabled()).toBe(true);
  await note.fill('a\u202eb');
  await invite.click();
  await dialog.getByText(/^“Whom it is for” must be 1 to 200 characters/).waitFor();
  await note.fill('🎲'.repeat(200));
  await invite.click();
  await dialog.getByLabel('The link', { exact: true }).waitFor();
});

it('a wallet that is no operator’s is told which account it is, and where operators are listed', async () => {
  const stranger = anAccount();
  const visit = await desk.open(stranger);
  await visit.goto('/operate/sign-in');
  await visit.press(`Sign in with ${WALLET_NAME}`);
  const alert = visit.page.getByRole('alert');
  await alert.getByText(stranger.address.toLowerCase()).waitFor();
  await alert.getByText('OPERATORS').waitFor();
});
