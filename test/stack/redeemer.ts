import { getAddress } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { type StackFacts } from './running-stack.js';

export async function rpc(
  facts: StackFacts,
  method: string,
  ...params: unknown[]
): Promise<unknown> {
  const answer = await fetch(facts.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return ((await answer.json()) as { result: unknown }).result;
}

/** Signs in with one of the chain's accounts, and reads from the redemption service. */
async function readAs(facts: StackFacts, wallet: string, path: string): Promise<unknown> {
  const url = facts.redemptionUrl;
  const post = async (to: string, body: object): Promise<Record<string, string>> => {
    const answer = await fetch(url + to, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, string>;
  };
  const { nonce } = await post('/api/auth/nonce', {});
  const message = createSiweMessage({
    domain: new URL(url).host,
    address: getAddress(wallet),
    uri: url,
    version: '1',
    chainId: facts.chainId,
    nonce: nonce ?? '',
  });
  const bytes = `0x${Buffer.from(message).toString('hex')}`;
  const signature = await rpc(facts, 'personal_sign', bytes, wallet);
  const { token } = await post('/api/auth/verify', { message, signature });
  const headers = { authorization: `Bearer ${token ?? ''}` };
  return (await fetch(url + path, { headers })).json();
}

export async function redemptionsOf(
  facts: StackFacts,
  wallet: string,
): Promise<{ status: string; tokens: number; txnHash: string | null }[]> {
  const { redemptions } = (await readAs(facts, wallet, '/api/redemptions')) as {
    redemptions: { status: string; tokens: number; txnHash: string | null }[];
  };
  return redemptions;
}
