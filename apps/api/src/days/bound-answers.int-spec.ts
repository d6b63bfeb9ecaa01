/** The default check of the partner SDK against a proxy that changes questions and answers about sealed days. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type SealedDay, type StakingClient, UnexpectedAnswerError } from '#libs/partner-sdk';
import { dayText } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { aWallet } from '#libs/testing';
import { addPartner, type Api, startApi } from '../testing/api-harness.support.js';
import { ProxyBetween } from '../testing/proxy-between.support.js';
import { FIRST, sealDays } from '../testing/sealed-days.support.js';

const DAY = dayText(FIRST + 2);

let api: Api;
let proxy: ProxyBetween;
let client: StakingClient;

beforeAll(async () => {
  api = await startApi();
  const credential = await addPartner(api, 'behind a proxy');
  proxy = await ProxyBetween.start(api);
  client = proxy.client(credential, { clock: api.clock });
  await sealDays(api, await createKeccak256());
});
beforeEach(() => {
  proxy.reset();
});
afterAll(async () => {
  proxy.stop();
  await api.stop();
});

async function listed(query: { from?: string; to?: string } = {}): Promise<string[]> {
  const found: SealedDay[] = [];
  for await (const day of client.days(query)) found.push(day);
  return found.map(({ day }) => day);
}

async function walletsOf(day: string): Promise<number> {
  let count = 0;
  for await (const { low } of client.dayWallets(day)) count += low > 0n ? 1 : 0;
  return count;
}

async function expectRefused(asked: Promise<unknown>, fault: string): Promise<void> {
  const error = await asked.then(
    (value) => ({ accepted: value }),
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(UnexpectedAnswerError);
  expect((error as Error).message).toContain(fault);
}

it('refuses a page that a changed question left days out of', async () => {
  const all = [3, 2, 1, 0].map((place) => dayText(FIRST + place));
  expect(await listed()).toEqual(all);
  proxy.question = ({ target, body }) => ({ target: `${target}&before=${DAY}`, body });
  await expectRefused(listed(), 'before');
  proxy.question = ({ target, body }) => ({
    target: target.replace(/before=[\d-]+/, `before=${DAY}`),
    body,
  });
  await expectRefused(listed({ to: dayText(FIRST + 3) }), 'before');
  proxy.question = ({ target, body }) => ({ target: target.replace('366', '2'), body });
  await expectRefused(listed(), 'next');
});

it('refuses pages that have changed places', async () => {
  await listed({ to: dayText(FIRST + 1) });
  const [before] = proxy.given;
  proxy.answer = (given) => before ?? given;
  await expectRefused(listed(), 'before');
  await expectRefused(listed({ to: dayText(FIRST + 3) }), 'before');
});

it('refuses another day, and another wallet', async () => {
  proxy.question = ({ target, body }) => ({
    target: target.replace(aWallet(3), aWallet(6)),
    body,
  });
  await expectRefused(client.proof(DAY, aWallet(3)), 'walletAddress is not');
});

it.each<[string, () => Promise<unknown>]>([
  ['a page', () => listed()],
  ['a day', () => client.day(DAY)],
  ['a proof', () => client.proof(DAY, aWallet(3))],
  ['a list', () => walletsOf(DAY)],
])('refuses an answer of before, which may be of an older revision: %s', async (_, ask) => {
  const first = await ask();
  const [before] = proxy.given;
  api.clock.advance(3_600_000);
  expect(await ask()).toEqual(first);
  proxy.answer = (given) => before ?? given;
  await expectRefused(ask(), 'requestedAt is more than 300 s from the clock here');
});
