/** Signing in on a chain that refuses calls without `to`, as ZK Stack chains do. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request, { type Response } from 'supertest';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { type Address } from '#libs/domain';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { ContractWallets, walletSignature } from '#libs/testing/wallets';
import {
  DOMAIN,
  errorOf,
  type Service,
  startService,
} from '../testing/redemption-harness.support.js';

const owner = privateKeyToAccount(generatePrivateKey());

let service: Service;
let node: FaultyNode;
let wallets: ContractWallets;

beforeAll(async () => {
  service = await startService({}, async (upstream) => {
    node = await startFaultyNode({ upstream, fault: { kind: 'no-deployless-calls' } });
    return node.url;
  });
  wallets = new ContractWallets(service.bench.chain, service.bench.seconds);
});
afterAll(async () => {
  await service.stop();
  await node.close();
});

async function signIn(
  wallet: Address,
  sign: (message: string) => Promise<string>,
): Promise<Response> {
  service.clock.advance(2000);
  const auth = (path: string): request.Test => request(service.url).post(`/api/auth/${path}`);
  const { nonce } = (await auth('nonce').expect(200)).body as { nonce: string };
  const message = createSiweMessage({
    address: wallet as `0x${string}`,
    chainId: service.bench.chain.chainId,
    domain: DOMAIN,
    nonce,
    uri: `https://${DOMAIN}/redeem`,
    version: '1',
    issuedAt: new Date(service.clock.nowMs()),
  });
  return auth('verify').send({ message, signature: await sign(message) });
}

describe('on a chain without deployless calls', () => {
  const WRONG = { status: 401, code: 'SIWE_SIGNATURE' };

  it('an account and a contract wallet get a session, each for its own signature', async () => {
    const wallet = await wallets.of(owner);
    const byWallet = await signIn(wallet, (text) => walletSignature(owner, text));
    expect(byWallet.body).toMatchObject({ wallet, token: expect.stringMatching(/^svct_/) });
    const stranger = privateKeyToAccount(generatePrivateKey());
    const byStranger = await signIn(wallet, (text) => walletSignature(stranger, text));
    expect(errorOf(byStranger)).toEqual(WRONG);

    const account = owner.address.toLowerCase() as Address;
    const byAccount = await signIn(account, (message) => owner.signMessage({ message }));
    expect(byAccount.status).toBe(200);
  });

  it('a wallet that is not deployed yet gets none, and the log says why once', async () => {
    const { wallet, sign } = await wallets.undeployed(owner);
    expect(errorOf(await signIn(wallet, sign))).toEqual(WRONG);
    expect(errorOf(await signIn(wallet, sign))).toEqual(WRONG);
    const said = service.logs.filter((line) => line.includes('SIGN_IN_UNDEPLOYED_WALLET'));
    expect(said).toHaveLength(1);
  });
});
