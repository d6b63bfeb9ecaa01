/** Tests the rights of people: invitations, the viewer, and redemptions that an admin adopts. */
import { describe, expect, it } from '@jest/globals';
import { RedemptionStore } from '#libs/db';
import { testEvidence } from '#libs/testing';
import {
  ADMIN,
  anAccount,
  OPERATOR,
  VIEWER,
} from '../../apps/console/src/testing/console-harness.support.js';
import { DeskBench } from '../console/desk.support.js';
import { useDesk } from './desk.js';
import { DeskVisit, WALLET_NAME } from './desk-visit.js';

/** Names of buttons that change nothing. */
const LOOKS = ['Skip the menu', 'Ask the chain', 'Details', 'Sign out', 'Show', 'Show all'];

const desk = useDesk((place) => DeskBench.start({}, place));

/** @returns the link that the dialog shows */
async function invite(admin: DeskVisit, partner: string, note: string): Promise<string> {
  await admin.goto(`/operate/partners/${partner}`);
  await admin.press('Invite');
  const dialog = admin.dialog('Invite');
  await dialog.getByLabel('Whom it is for').fill(note);
  await admin.press('Invite', dialog);
  const url = await dialog.getByLabel('The link', { exact: true }).inputValue();
  await admin.press('I have it: forget it here', dialog);
  return url;
}

describe('an invitation', () => {
  it('is accepted once, by a person who is a member from then on, and can be removed', async () => {
    const partner = await desk.bench.game('Accepted <b>');
    const admin = await desk.operator();
    const url = await invite(admin, partner, 'ann');
    const ann = await desk.open(anAccount());
    await ann.page.goto(url);
    await ann.press(`Sign in with ${WALLET_NAME}`);
    await ann.heading('Accepted <b>');
    const late = await desk.open(anAccount());
    await late.page.goto(url);
    await late.page.getByText('was used, withdrawn or has expired').waitFor();

    await admin.page.reload();
    const invitations = admin.page.getByRole('region', { name: 'Invitations' });
    await invitations.getByRole('cell', { name: 'accepted', exact: true }).waitFor();
    await admin.page.getByRole('button', { name: /^Remove 0x/ }).click();
    await admin.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Remove 0x/ })
      .click();
    await admin.page.getByText('No member yet.').waitFor();
    await ann.page.reload();
    await ann.heading('Sign in for a partner');
  });

  it('is withdrawn: its link is of no use, and the log says who did it', async () => {
    const partner = await desk.bench.game('Withdrawn');
    const admin = await desk.operator();
    const url = await invite(admin, partner, 'bob');
    await admin.press('Withdraw: bob');
    const invitations = admin.page.getByRole('region', { name: 'Invitations' });
    await invitations.getByRole('cell', { name: 'withdrawn', exact: true }).waitFor();
    const bob = await desk.open(anAccount());
    await bob.page.goto(url);
    await bob.page.getByText('was used, withdrawn or has expired').waitFor();
    await admin.goto('/operate/log');
    await admin.page.getByLabel('Command').fill('partner withdraw-invitation');
    await admin.press('Show');
    const row = admin.page.getByRole('row').filter({ hasText: 'Withdrawn' });
    await row.getByRole('cell', { name: 'done', exact: true }).waitFor();
    const [audit] = await desk.bench.audit();
    const actor = `operator:${ADMIN.address.toLowerCase()}`;
    expect(audit).toMatchObject({ actor, command: 'partner withdraw-invitation', partner });
  });
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
  const paths = ['partners', `partners/${partner}`, 'redemptions', `redemptions/${id}`];
  const others = ['adoption', 'doctor', 'reconciliation', 'approvals', 'log', 'audits', 'registry'];
  for (const path of [...paths, ...others]) {
    expect([path, await enabled(`/operate/${path}`)]).toEqual([path, []]);
  }
  // The same page offers actions to an admin.
  const admin = await desk.operator();
  await admin.goto(`/operate/partners/${partner}`);
  for (const name of ['Pause', 'Change', 'Add a credential', 'Invite', 'Ping now']) {
    await admin.page.getByRole('button', { name, exact: true }).waitFor();
  }
});

describe('redemptions without the MAC of the service', () => {
  const isSealed = async (id: string): Promise<boolean> => {
    const store = new RedemptionStore(desk.bench.console.database, testEvidence());
    return (await store.get(id as never))?.isSealed === true;
  };

  it('are adopted by an admin who has looked at them, as by the command', async () => {
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

  it('a console without the key names the setting and the command', async () => {
    const bare = await DeskBench.start({ EVIDENCE_KEY: '' });
    const visit = await DeskVisit.open(desk.browser, bare.console);
    try {
      await visit.signedInAs(await bare.console.signedIn(ADMIN));
      await visit.goto('/operate/adoption');
      await visit.page.getByText('npm run --silent cli -- redemption adopt').waitFor();
      expect(await visit.page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    } finally {
      await visit.context.close();
      await bare.stop();
    }
  });
});
