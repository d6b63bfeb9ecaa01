import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { clearFindings, recordFinding } from '#libs/db';
import {
  type Address,
  dayText,
  type DayTree,
  type Keccak256,
  type NodeHash,
  provenLow,
} from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { type MintedCredential } from '#libs/signing';
import { aBlock, aWallet } from '#libs/testing/database';
import {
  LowmarkApiError,
  type StakingClientOptions,
  UnexpectedAnswerError,
} from '#libs/partner-sdk';
import { addPartner, type Api, startApi } from '../testing/api-harness.support.js';
import { ProxyBetween } from '../testing/proxy-between.support.js';
import { FIRST, LAST, sealDays, treeOf } from '../testing/sealed-days.support.js';
import { expectError, expectSigned } from '../testing/wire.support.js';

const DAYS = '/api/staking/days';
let api: Api;
let partner: MintedCredential;
let keccak: Keccak256;
let trees: ReadonlyMap<number, DayTree>;

beforeAll(async () => {
  keccak = await createKeccak256();
  api = await startApi();
  partner = await addPartner(api, 'days');
  trees = await sealDays(api, keccak);
});
afterAll(() => api.stop());

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function ask(target: string, key: string | undefined = partner.apiKey): Promise<Answer> {
  const headers = key === '' ? {} : { 'x-api-key': key };
  const response = await fetch(api.url + target, { headers });
  const { status } = response;
  return { status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

async function read<T>(target: string): Promise<T> {
  const answer = await ask(target);
  expect([target, answer.status]).toEqual([target, 200]);
  expectSigned(answer, {
    method: 'GET',
    path: target.split('?')[0] ?? '',
    secret: partner.sharedSecret,
  });
  return JSON.parse(answer.body) as T;
}

interface Proof {
  readonly low: string;
  readonly walletAddress: string;
  readonly day: { readonly root: NodeHash };
  readonly leaf: { readonly wallet: Address; readonly low: string; readonly next: Address };
  readonly proof: NodeHash[];
}

const proofOf = (day: number, wallet: string): Promise<Proof> =>
  read(`${DAYS}/${dayText(day)}/proof?walletAddress=${wallet}`);

describe(DAYS, () => {
  it('lists the newest first, each in its newest revision, page by page', async () => {
    const seen: unknown[] = [];
    let before = '';
    for (;;) {
      const page = await read<{ days: { day: string; revision: number }[]; next?: string }>(
        `${DAYS}?limit=3${before}`,
      );
      seen.push(...page.days.map(({ day, revision }) => [day, revision]));
      if (page.next === undefined) break;
      before = `&before=${page.next}`;
    }
    const expected = [3, 2, 1, 0].map((place) => [dayText(FIRST + place), place === 3 ? 2 : 1]);
    expect(seen).toEqual(expected);
  });

  it('tells a day with its root, its figures and the revision before', async () => {
    const { day } = await read<{ day: unknown }>(`${DAYS}/${dayText(FIRST + 3)}`);
    expect(day).toEqual({
      day: dayText(FIRST + 3),
      ...{ revision: 2, wallets: 5, total: '45', software: '1.2.3' },
      root: trees.get(FIRST + 3)?.root,
      previousRoot: treeOf(4, keccak).root,
      blockNumber: 4,
      blockHash: aBlock(4).hash,
      sealedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it('says of a day that is not sealed when it can be', async () => {
    const over = await ask(`${DAYS}/${dayText(LAST)}`);
    expectError(over, 409, 'DAY_NOT_SEALED');
    expect(over.headers['retry-after']).toBe('60');
    const today = await ask(`${DAYS}/${dayText(LAST + 1)}/proof?walletAddress=${aWallet(3)}`);
    expectError(today, 409, 'DAY_NOT_OVER');
    expect(today.body).toContain('after 2026-11-21T23:59:59.999Z');
    // Seconds from the test's clock, two seconds and 123 ms after noon, to the end of the day, rounded up.
    expect(today.headers['retry-after']).toBe('43198');
    const last = await ask(`${DAYS}/9999-12-31`);
    expectError(last, 409, 'DAY_NOT_OVER');
    expect(last.body).toContain('after 9999-12-31T23:59:59.999Z');
  });

  it('says of a day before the first one that there is none', async () => {
    expectError(await ask(`${DAYS}/${dayText(FIRST - 1)}`), 404, 'DAY_NOT_FOUND');
    expectError(await ask(`${DAYS}/1970-01-01`), 404, 'DAY_NOT_FOUND');
  });

  const LIMIT = 'limit must be a whole number from 1 to 366 in plain digits.';
  const DAY = 'a day of the calendar from 1970 on, such as 2026-11-21.';
  it.each([
    ['?limit=0', LIMIT],
    ['?limit=367', LIMIT],
    ['?limit=1&limit=2', LIMIT.replace('be', 'be given at most once:')],
    ['?before=yesterday', `before must be ${DAY}`],
    ['?before=2026-11-20&before=2026-11-20', `before must be given at most once: ${DAY}`],
    ['?contract=0x', 'contract must be eip155:,'],
    ['/2026-02-30', `day must be ${DAY}`],
    ['/2026-11-20/proof', 'walletAddress must be given: 0x and 40 hex digits.'],
    ['/2026-11-20/proof?walletAddress=0x12', 'walletAddress must be 0x and 40 hex digits.'],
    [`/${'1'.repeat(90)}`, `day must be ${DAY}`],
  ])('refuses %s', async (target, message) => {
    const answer = await ask(DAYS + target);
    expectError(answer, 400, 'BAD_REQUEST');
    expect(answer.body).toContain(`"message":"${message}`);
  });

  it('is for partners', async () => {
    for (const target of [DAYS, `${DAYS}/2026-11-20`, `${DAYS}/x/proof`]) {
      expectError(await ask(target, ''), 401, 'UNAUTHORIZED');
    }
  });

  it('says which contract was asked for', async () => {
    const target = `${DAYS}/${dayText(FIRST + 3)}`;
    const { stakeContract, chainId } = await read<{ stakeContract: string; chainId: number }>(
      target,
    );
    const contract = `eip155:${chainId}:${stakeContract}`;
    const upper = `eip155:${chainId}:0x${stakeContract.slice(2).toUpperCase()}`;
    expect(await read(`${target}?contract=${upper}`)).toMatchObject({ contract });
    expect(await read(target)).not.toHaveProperty('contract');
  });

  it('knows no contract that is not indexed', async () => {
    const target = `${DAYS}?contract=eip155:1:0x${'9'.repeat(40)}`;
    expectError(await ask(target), 404, 'CONTRACT_NOT_FOUND');
  });
});

describe(`${DAYS}/{day}/proof`, () => {
  it.each([
    ['the first', 3],
    ['one in the middle, at the end of a chunk', 3 * 1023],
    ['the last', 9000],
    ['one below all', 1],
    ['one between two', 3 * 1023 + 1],
    ['one above all', 9001],
  ])('leads to the root: %s', async (_, number) => {
    const wallet = aWallet(number);
    const { low, leaf, proof, day, walletAddress } = await proofOf(FIRST + 2, wallet);
    const isThere = number % 3 === 0 && number <= 9000;
    expect(walletAddress).toBe(wallet);
    expect(low).toBe(isThere ? String(number) : '0');
    expect(day.root).toBe(trees.get(FIRST + 2)?.root);
    const given = { root: day.root, leaf: { ...leaf, low: BigInt(leaf.low) }, proof };
    expect(provenLow(wallet, given, keccak)).toBe(BigInt(low));
    // The leaf proves nothing about another wallet.
    expect(provenLow(aWallet(6000), given, keccak)).toBeUndefined();
  });

  it('takes a wallet in any capitals', async () => {
    const wallet = aWallet(0xabc);
    const { walletAddress } = await proofOf(FIRST + 1, wallet.toUpperCase().replace('X', 'x'));
    expect(walletAddress).toBe(wallet);
  });

  it('is of the newest revision', async () => {
    const { low } = await proofOf(FIRST + 3, aWallet(15));
    expect(low).toBe('15');
  });
});

it('a day is not told while a wallet is known to be wrong, nor after the repair until it is worked out again', async () => {
  const database = await api.database.open();
  const statuses = async (): Promise<number[]> => {
    const answers = [FIRST + 1, FIRST + 2].map((day) => ask(`${DAYS}/${dayText(day)}`));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  await database.query({
    text: 'INSERT INTO staking.doubtful_day VALUES ($1)',
    values: [FIRST + 2],
  });
  expect(await statuses()).toEqual([200, 503]);
  await database.query({ text: 'DELETE FROM staking.doubtful_day' });
  await recordFinding(database, [aWallet(1)], 'test');
  expect(await statuses()).toEqual([503, 503]);
  await clearFindings(database, 'all');
  expect(await statuses()).toEqual([200, 200]);
});

describe('a set that is indexed again for another contract', () => {
  it('is not answered of under the contract that was asked for', async () => {
    const database = await api.database.open();
    const index = async (contract: Address): Promise<void> => {
      const text = 'UPDATE staking.index_state SET stake_contract = $1';
      await database.pool.query(text, [Buffer.from(contract.slice(2), 'hex')]);
    };
    const [before, after] = [aWallet(0xa1), aWallet(0xa2)];
    const target = `${DAYS}/${dayText(FIRST + 3)}?contract=eip155:31337:${before}`;
    expect(await read(target)).toMatchObject({ stakeContract: before });
    await index(after);
    try {
      expectError(await ask(target), 503, 'SERVICE_UNAVAILABLE');
      api.clock.advance(6000);
      expectError(await ask(target), 404, 'CONTRACT_NOT_FOUND');
    } finally {
      await index(before);
      api.clock.advance(6000);
    }
  });
});

describe('the partner SDK, through a proxy that can change questions and answers', () => {
  const DAY = dayText(FIRST + 2);
  let proxy: ProxyBetween;
  beforeAll(async () => {
    proxy = await ProxyBetween.start(api);
  });
  afterAll(() => {
    proxy.stop();
  });
  const client = (options: Partial<StakingClientOptions> = {}) => {
    proxy.reset();
    return proxy.client(partner, { clock: api.clock, ...options });
  };

  async function expectRefused(asked: Promise<unknown>, fault: string): Promise<void> {
    const error = await asked.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect((error as Error).message).toContain(fault);
  }

  it.each([false, true])('reads days and proofs, message signatures: %s', async (isBound) => {
    const sdk = client({ messageSignatures: isBound });
    const { root } = treeOf(5, keccak);
    expect(await sdk.day(dayText(FIRST + 3))).toMatchObject({ root, revision: 2, chainId: 31337 });
    const early = await sdk.day(dayText(LAST)).catch((error: unknown) => error);
    expect(early).toBeInstanceOf(LowmarkApiError);
    expect(early).toMatchObject({ status: 409, code: 'DAY_NOT_SEALED', retryAfterSeconds: 60 });
    const known = { root: treeOf(3000, keccak).root };
    expect(await sdk.proof(DAY, aWallet(3 * 1023), known)).toMatchObject({ low: '3069' });
    expect(await sdk.proof(DAY, aWallet(3 * 1023 + 1), known)).toMatchObject({ low: '0' });
    const seen: string[] = [];
    for await (const { day } of sdk.days({ from: dayText(FIRST + 1) })) seen.push(day);
    expect(seen).toEqual([3, 2, 1].map((place) => dayText(FIRST + place)));
  });

  it('refuses the answer to another question', async () => {
    const sdk = client();
    proxy.question = ({ target, body }) => ({ target: `${target}&before=${DAY}`, body });
    await expectRefused(sdk.days().next(), 'before');
    proxy.question = ({ target, body }) => ({
      target: target.replace(aWallet(3), aWallet(6)),
      body,
    });
    await expectRefused(sdk.proof(DAY, aWallet(3)), 'walletAddress is not');
  });

  it('refuses an answer of before, which may be of an older revision', async () => {
    const sdk = client();
    for (const ask of [
      () => sdk.days().next(),
      () => sdk.day(DAY),
      () => sdk.proof(DAY, aWallet(3)),
      () => sdk.dayWallets(DAY).next(),
    ]) {
      proxy.reset();
      await ask();
      const [before] = proxy.given;
      api.clock.advance(3_600_000);
      proxy.answer = (given) => before ?? given;
      await expectRefused(ask(), 'requestedAt is more than 300 s from the clock here');
    }
  });
});

describe('the contract', () => {
  it.each([
    ['/api/staking/days', DAYS],
    ['/api/staking/days/{day}', `${DAYS}/${dayText(FIRST + 3)}`],
    [
      '/api/staking/days/{day}/proof',
      `${DAYS}/${dayText(FIRST + 3)}/proof?walletAddress=${aWallet(4)}`,
    ],
  ])('describes what %s answers', async (path, target) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(JSON.parse(readFileSync('docs/wire/openapi.json', 'utf8')) as object, 'openapi');
    const pointer = `openapi#/paths/${path.replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`;
    const validate = ajv.getSchema(pointer);
    expect([validate?.(await read(target)), validate?.errors]).toEqual([true, null]);
  });

  it('is shown by an example in days.md', async () => {
    const example = /```json\n(.*?)```/s.exec(readFileSync('docs/wire/days.md', 'utf8'))?.[1];
    const shown = JSON.parse(example ?? '') as { day: object };
    const answered = await read<{ day: object }>(`${DAYS}/${dayText(FIRST)}`);
    expect(Object.keys(shown)).toEqual(Object.keys(answered));
    expect(Object.keys(shown.day)).toEqual(Object.keys(answered.day));
  });
});
