/** Tests the searches of redemptions and of partners with different inputs. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { type Redemption } from '#libs/domain';
import { aWallet } from '#libs/testing';
import { VIEWER } from '../../apps/console/src/testing/console-harness.support.js';
import { DeskBench } from '../console/desk.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit } from './desk-visit.js';

const MARKUP = `<img src=x onerror="document.title='taken'">`;

let visit: DeskVisit;
// Registered before `useDesk`, so that these checks run before it closes the page.
afterEach(async () => {
  expect(await visit.page.locator('img').count()).toBe(0);
  expect(await visit.page.title()).not.toContain('taken');
});
const desk = useDesk((place) => DeskBench.start({}, place));
/** One redemption of each partner. */
let gold: Redemption;
let silver: Redemption;
let hostile: Redemption;
beforeAll(async () => {
  const of = async (name: string, wallet: number) =>
    desk.bench.stored(await desk.bench.game(name), 'claimed', { wallet: aWallet(wallet) });
  [gold, silver] = [await of('Golden Game', 1), await of('Silver Game', 2)];
  hostile = await of(MARKUP, 3);
});
beforeEach(async () => {
  visit = await desk.operator(VIEWER);
});

describe('the search of redemptions', () => {
  const FIELDS = { id: 'Id or its beginning', wallet: 'Wallet', partner: /^Partner, by part/ };

  beforeEach(async () => {
    await visit.goto('/operate/redemptions');
    await visit.page.getByRole('tab', { name: 'Search' }).click();
    await all();
  });

  async function find(field: keyof typeof FIELDS, text: string): Promise<void> {
    await visit.page.getByRole('textbox', { name: FIELDS[field], exact: true }).fill(text);
    await visit.press('Find');
  }

  const link = ({ id }: Redemption): Locator => visit.page.getByRole('link', { name: id });

  async function all(): Promise<void> {
    for (const one of [gold, silver, hostile]) await link(one).waitFor();
  }

  async function only(one: Redemption): Promise<void> {
    const others = [gold, silver, hostile].filter(({ id }) => id !== one.id);
    for (const other of others) await link(other).waitFor({ state: 'detached' });
    await link(one).waitFor();
  }

  const found = [
    ['id', () => gold.id, () => gold],
    ['id', () => silver.id.toUpperCase(), () => silver],
    ['wallet', () => silver.wallet, () => silver],
    ['wallet', () => `  ${gold.wallet} `, () => gold],
    ['partner', () => 'gOLD', () => gold],
    ['partner', () => '<img src=x', () => hostile],
  ] as const;

  it('finds one by its id, its wallet or a part of its partner’s name', async () => {
    for (const [field, text, one] of found) {
      await find(field, text());
      await only(one());
      await visit.press('Clear');
      await all();
    }
  });

  it.each([
    ['id', MARKUP, 'Hexadecimal digits and dashes, from the start of the id.'],
    ['wallet', '0x12', 'An address: 0x and 40 hex digits.'],
  ] as const)(
    'says at the field %s what is wrong with %s, and asks nothing',
    async (field, text, says) => {
      await find(field, text);
      await visit.page.getByText(says).waitFor();
      await all();
      expect(new URL(visit.page.url()).searchParams.get(field)).toBeNull();
    },
  );

  it('says that there is none: of an id, of a wallet, of a partner', async () => {
    const none = visit.page.getByText('No redemption is like that.');
    await find('id', 'ffffffff');
    await none.waitFor();
    await visit.press('Clear');
    await all();
    await find('wallet', aWallet(0xdead));
    await none.waitFor();
    await visit.press('Clear');
    await all();
    for (const text of ['no such game', '%', '_', `';--`, '🎲'.repeat(50)]) {
      await find('partner', text);
      await visit.page.getByRole('alert').getByText('partner').first().waitFor();
      expect(await link(gold).count()).toBe(0);
    }
  });

  it('names the partners where several fit', async () => {
    await find('partner', 'game');
    const alert = visit.page.getByRole('alert');
    await alert.getByText('Golden Game').waitFor();
    await alert.getByText('Silver Game').waitFor();
    await find('partner', 'silver g');
    await only(silver);
  });

  it('is kept in the address while what is to do is looked at', async () => {
    await find('partner', 'golden');
    await only(gold);
    await visit.page.getByRole('tab', { name: 'To do' }).click();
    await visit.page.getByText('Needs attention first, then oldest.').waitFor();
    await visit.page.getByText('Nothing is open.').waitFor();
    expect(new URL(visit.page.url()).searchParams.get('partner')).toBe('golden');
    await visit.page.reload();
    await visit.page.getByText('Nothing is open.').waitFor();
    await visit.page.getByRole('tab', { name: 'Search' }).click();
    await only(gold);
    const field = visit.page.getByRole('textbox', { name: FIELDS.partner });
    expect(await field.inputValue()).toBe('golden');
    await visit.press('Clear');
    await all();
    await visit.page.getByRole('tab', { name: 'To do' }).click();
    await visit.page.getByText('Nothing is open.').waitFor();
    expect(new URL(visit.page.url()).search).toBe('');
  });
});

describe('the search of partners', () => {
  it('narrows the list by a part of the name, whatever is typed', async () => {
    await visit.goto('/operate/partners');
    const field = visit.page.getByLabel('Part of the name');
    const link = (name: string) => visit.page.getByRole('link', { name, exact: true });
    await link('Golden Game').waitFor();
    await field.fill('ERROR="doc');
    await link('Golden Game').waitFor({ state: 'detached' });
    await link(MARKUP).waitFor();
    await field.fill('game');
    await link('Silver Game').waitFor();
    await link('Golden Game').waitFor();
    expect(await link(MARKUP).count()).toBe(0);
    for (const text of ['%', '_', '\\', '🎲', '<script>']) {
      await field.fill(text);
      await visit.page.getByText('No partner has this in its name.').waitFor();
    }
    await field.fill('');
    await link(MARKUP).waitFor();
  });
});
