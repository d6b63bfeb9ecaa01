import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { IndexStore } from '#libs/db';
import { ZERO_ADDRESS } from '#libs/domain';
import { anInitialIndex } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { ContractWallets, walletSignature } from '#libs/testing/wallets';
import {
  aUser,
  DOMAIN,
  errorOf,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';
import { ExpirySweep } from '../redemptions/expiry.sweep.js';

const SECOND = 1000;
const MINUTE = 60_000;

let service: Service;
const nodes: FaultyNode[] = [];

beforeAll(async () => {
  service = await startService({}, async (upstream) => {
    nodes.push(await startFaultyNode({ upstream }), await startFaultyNode({ upstream }));
    return nodes.map(({ url }) => url).join(',');
  });
  const { chainId, contracts } = service.bench.chain;
  const index = anInitialIndex({ chainId, stakeContract: contracts.staking });
  await new IndexStore(await service.database.open()).create(index);
});
afterAll(async () => {
  await service.stop();
  await Promise.all(nodes.map((node) => node.close()));
});

/** Sets the faults of the two endpoints; without faults, lets failed endpoints be asked again. */
function setFaults(...faults: (Fault | undefined)[]): void {
  for (const [index, node] of nodes.entries()) node.fault = faults[index];
  if (faults.length === 0) service.clock.advance(MINUTE);
}

type Changes = Partial<Parameters<typeof createSiweMessage>[0]>;

function post(path: string, body?: object): request.Test {
  // One address may send one request a second.
  service.clock.advance(SECOND);
  const test = request(service.url).post(`/api/auth/${path}`);
  return body === undefined ? test : test.send(body);
}

async function aNonce(): Promise<string> {
  const { body } = await post('nonce').expect(200);
  return String(body.nonce);
}

async function aSignIn(changes: Changes = {}, account = anAccount()) {
  const message = createSiweMessage({
    address: account.address,
    chainId: service.bench.chain.chainId,
    domain: DOMAIN,
    nonce: changes.nonce ?? (await aNonce()),
    uri: `https://${DOMAIN}/redeem`,
    version: '1',
    issuedAt: new Date(service.clock.nowMs()),
    ...changes,
  });
  return { account, message, signature: await account.signMessage({ message }) };
}

function anAccount() {
  return privateKeyToAccount(generatePrivateKey());
}

function verify({ message, signature }: { message: string; signature: string }): request.Test {
  return post('verify', { message, signature });
}

function partners(token: string): Promise<Response> {
  return request(service.url).get('/api/partners').set('authorization', `Bearer ${token}`);
}

/** How often the service has asked the chain to call a contract. */
async function chainCalls(): Promise<number> {
  const { text } = await request(service.url).get('/metrics');
  const counts = [...text.matchAll(/^lowmark_rpc_calls_total\{.*"eth_call".*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature of the same key and message: s is negated, and v is the other one. */
function malleated(signature: string): string {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.endsWith('1b') ? '1c' : '1b';
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`;
}

describe('signing in', () => {
  it('gives a session to the wallet that signed', async () => {
    const signIn = await aSignIn({ statement: 'Redeem your points.' });
    const { body } = await verify(signIn).expect(200);
    expect(body).toEqual({
      token: expect.stringMatching(/^svct_[A-Za-z0-9_-]{43}$/),
      wallet: signIn.account.address.toLowerCase(),
      expiresAt: new Date(service.clock.nowMs() + 86_400_000).toISOString(),
    });
    expect((await partners(body.token)).status).toBe(200);
  });

  it('keeps the token nowhere, and logs none', async () => {
    const { body } = await verify(await aSignIn()).expect(200);
    await partners(body.token);
    const database = await service.database.open();
    const rows = await database.query({ text: 'SELECT * FROM redemption.session' });
    const hex = Buffer.from(body.token).toString('hex');
    expect(JSON.stringify(rows)).not.toContain(body.token);
    expect(JSON.stringify(rows)).not.toContain(hex);
    expect(service.logs.join('')).not.toMatch(/svct_[A-Za-z0-9]/);
  });

  it('takes a nonce once, also from two at the same time', async () => {
    const signIn = await aSignIn();
    const answers = await Promise.all([verify(signIn), verify(signIn), verify(signIn)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(errorOf(await verify(signIn))).toEqual({ status: 401, code: 'SIWE_NONCE' });
    const made = await aSignIn({ nonce: 'abcdefgh12345678' });
    expect(errorOf(await verify(made))).toEqual({ status: 401, code: 'SIWE_NONCE' });
  });

  it('takes no nonce that has expired', async () => {
    const nonce = await aNonce();
    service.clock.advance(5 * MINUTE);
    const late = await aSignIn({ nonce });
    expect(errorOf(await verify(late))).toEqual({ status: 401, code: 'SIWE_NONCE' });
  });

  it.each<[string, (nowMs: number) => Changes]>([
    ['DOMAIN', () => ({ domain: 'evil.example' })],
    ['DOMAIN', () => ({ domain: `${DOMAIN}.evil.example` })],
    ['DOMAIN', () => ({ domain: `${DOMAIN}:8443` })],
    ['URI', () => ({ uri: 'https://evil.example/' })],
    ['URI', () => ({ uri: `https://${DOMAIN}@evil.example/` })],
    ['URI', () => ({ uri: `https://evil.example@${DOMAIN}/` })],
    ['URI', () => ({ uri: `https://:evil.example@${DOMAIN}/` })],
    ['CHAIN_ID', () => ({ chainId: 1 })],
    ['EXPIRED', (nowMs) => ({ expirationTime: new Date(nowMs) })],
    ['NOT_BEFORE', (nowMs) => ({ notBefore: new Date(nowMs + 10 * SECOND) })],
    ['ISSUED_AT', (nowMs) => ({ issuedAt: new Date(nowMs + 6 * MINUTE) })],
    ['ISSUED_AT', (nowMs) => ({ issuedAt: new Date(nowMs - 11 * MINUTE) })],
  ])('refuses a wrong %s', async (part, changes) => {
    const signIn = await aSignIn(changes(service.clock.nowMs()));
    expect(errorOf(await verify(signIn))).toEqual({ status: 401, code: `SIWE_${part}` });
  });

  it('refuses the signature of another wallet or of another text', async () => {
    const signIn = await aSignIn();
    const other = await aSignIn();
    const wrong = { status: 401, code: 'SIWE_SIGNATURE' };
    expect(errorOf(await verify({ ...signIn, signature: other.signature }))).toEqual(wrong);
    expect(errorOf(await verify({ ...signIn, signature: '0x00' }))).toEqual(wrong);
    // The nonce is still valid: only the wallet that signed can use it up.
    await verify(signIn).expect(200);
  });

  it('asks the chain nothing for a nonce that is not open', async () => {
    // Only the chain knows whether an address that has not signed by its key is a contract that has.
    const forged = async (nonce?: string) => {
      const { message } = await aSignIn(nonce === undefined ? {} : { nonce });
      return errorOf(await verify({ message, signature: (await aSignIn()).signature }));
    };
    const before = await chainCalls();
    expect(await forged('abcdefgh87654321')).toEqual({ status: 401, code: 'SIWE_NONCE' });
    expect(await chainCalls()).toBe(before);
    expect(await forged()).toEqual({ status: 401, code: 'SIWE_SIGNATURE' });
    expect(await chainCalls()).toBeGreaterThan(before);
  });

  it.each<[string, () => string]>([
    ['the zero address', () => ZERO_ADDRESS],
    ['a precompile', () => '0x0000000000000000000000000000000000000004'],
    ['the vault', () => service.bench.vault],
    ['the token', () => service.bench.chain.contracts.token],
    ['the staking contract', () => service.bench.chain.contracts.staking],
  ])('refuses %s, whose key nobody holds', async (_, addressOf) => {
    // Of a signature of zeros ecrecover recovers nothing, which it says by the zero address.
    const signature = `0x${'00'.repeat(64)}1b`;
    const { message } = await aSignIn({ address: addressOf() as Hex });
    expect(errorOf(await verify({ message, signature }))).toEqual({
      status: 401,
      code: 'SIWE_WALLET',
    });
  });

  it('opens one session where the two signatures of one message are both sent', async () => {
    const { message, signature } = await aSignIn();
    await verify({ message, signature }).expect(200);
    const twin = malleated(signature);
    expect(errorOf(await verify({ message, signature: twin }))).toEqual({
      status: 401,
      code: 'SIWE_NONCE',
    });
  });

  it.each([
    ['message', { message: 'hello', signature: '0x00' }],
    ['message', { message: 5, signature: '0x00' }],
    ['message', { signature: '0x00' }],
    ['signature', { message: 'hello', signature: '0x0' }],
    ['signature', { message: 'hello', signature: '' }],
    ['signature', { message: 'hello', signature: ['0x00'] }],
    ['body', []],
  ])('needs a sound %s', async (field, body) => {
    const answer = await post('verify', body);
    expect(errorOf(answer)).toEqual({ status: 400, code: 'BAD_REQUEST', field });
  });

  it('says that a message is too long', async () => {
    const answer = await post('verify', { message: 'x'.repeat(4097), signature: '0x00' });
    expect(errorOf(answer)).toEqual({ status: 400, code: 'BAD_REQUEST', field: 'message' });
    expect(answer.body).toMatchObject({ message: 'message is too long.' });
  });

  it('of a contract wallet waits for the chain, and the same message is good afterwards', async () => {
    const signIn = await aSignIn();
    const stranger = await aSignIn();
    const asked = { ...signIn, signature: stranger.signature };
    setFaults({ kind: 'reset' }, { kind: 'reset' });
    const answer = await verify(asked);
    expect(errorOf(answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(answer.headers['retry-after']).toBe('5');
    setFaults();
    await verify(signIn).expect(200);
  });
});

it('a contract wallet gets no session by one endpoint alone', async () => {
  const [owner, thief] = [anAccount(), anAccount()];
  const { bench, logs } = service;
  const wallet = await new ContractWallets(bench.chain, bench.seconds).of(owner);
  const signIn = async (by: typeof owner) => {
    const { message } = await aSignIn({ address: wallet as Hex });
    return verify({ message, signature: await walletSignature(by, message) });
  };
  setFaults({
    kind: 'result',
    method: 'eth_call',
    result: '0x01',
    only: ({ params }) => JSON.stringify(params).length > 1000,
  });
  expect(errorOf(await signIn(thief))).toEqual({ status: 401, code: 'SIWE_SIGNATURE' });
  const told = logs.filter((line) => line.includes('"alert":"sign-in-disagreement"'));
  expect(told).toEqual([expect.stringMatching(/is valid by .*, and not by /)]);
  setFaults(undefined, { kind: 'reset' });
  expect((await signIn(thief)).status).toBe(503);
  setFaults();
  expect((await signIn(owner)).status).toBe(200);
});

describe('a contract wallet that signs on chain', () => {
  let wallets: ContractWallets;
  beforeAll(() => {
    wallets = new ContractWallets(service.bench.chain, service.bench.seconds);
  });

  /** Begins a sign-in, which the owners sign after some minutes. */
  async function signedAfter(minutes: number): Promise<Response> {
    const wallet = await wallets.deploy('Approving');
    const { message } = await aSignIn({ address: wallet as Hex });
    expect(errorOf(await verify({ message, signature: '0x' }))).toMatchObject({
      code: 'SIWE_SIGNATURE',
    });
    service.clock.advance(minutes * MINUTE);
    await wallets.approve(wallet, message);
    return verify({ message, signature: '0x' });
  }

  it('has 30 minutes for it', async () => {
    expect((await signedAfter(6)).status).toBe(200);
    expect((await signedAfter(29)).status).toBe(200);
  });

  it.each([30, 36, 600])('is told of the time limit after %d minutes', async (minutes) => {
    const late = await signedAfter(minutes);
    expect(errorOf(late)).toEqual({ status: 401, code: 'SIWE_NONCE' });
    expect(late.body.message).toContain('the time for signing is over. Sign within 30 minutes');
  });
});

it('an account is told of its time limit', async () => {
  const signIn = await aSignIn();
  service.clock.advance(11 * MINUTE);
  const late = await verify(signIn);
  expect(errorOf(late)).toEqual({ status: 401, code: 'SIWE_NONCE' });
  expect(late.body.message).toContain('Sign within 5 minutes');
});

describe('a session', () => {
  it('ends when its user signs out, and signing out again does nothing', async () => {
    const user = await aUser(service);
    service.clock.advance(5 * SECOND);
    await user.post('/api/auth/logout').expect(204);
    expect(errorOf(await user.get('/api/partners'))).toEqual({
      status: 401,
      code: 'UNAUTHORIZED',
    });
    await user.post('/api/auth/logout').expect(204);
    await request(service.url).post('/api/auth/logout').expect(204);
  });

  it('ends by itself', async () => {
    const { body } = await verify(await aSignIn()).expect(200);
    service.clock.advance(86_400_000 - 1);
    expect((await partners(body.token)).status).toBe(200);
    service.clock.advance(1);
    expect((await partners(body.token)).status).toBe(401);
    await service.app.get(ExpirySweep).sweep();
    const database = await service.database.open();
    const text = `SELECT (SELECT count(*) FROM redemption.nonce WHERE expires_at <= $1)
      + (SELECT count(*) FROM redemption.session WHERE expires_at <= $1) AS left`;
    const rows = await database.query({ text }, [new Date(service.clock.nowMs())]);
    expect(rows).toEqual([{ left: '0' }]);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer x',
    `Bearer svct_${'x'.repeat(43)}`,
    `Bearer svct_${'x'.repeat(42)}é`,
    `Basic ${Buffer.from('a:b').toString('base64')}`,
    `Bearer ${'x'.repeat(8000)}`,
    `Bearer svct_${'x'.repeat(43)}, Bearer svct_${'y'.repeat(43)}`,
  ])('is not made of the header %p', async (header) => {
    const asked = request(service.url).get('/api/redemptions');
    if (header !== undefined) {
      void asked.set('authorization', Buffer.from(header).toString('latin1'));
    }
    expect(errorOf(await asked)).toEqual({ status: 401, code: 'UNAUTHORIZED' });
  });
});
