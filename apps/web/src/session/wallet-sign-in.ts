/** Signs in to the console with a wallet of the browser, by a single signature. */
import { getAddress, stringToHex } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { consoleApi } from '../api/console-client';
import { type ConsoleConfig } from '../redeem/config';
import { type BrowserWallet } from '../wallets/browser-wallets';
import { type Kind, type Session } from './use-session';

/** On a local chain the console provides a test wallet for trying the pages without an extension. */
export async function offerTestWallet(): Promise<void> {
  const config = await fetch('/player/config').catch(() => undefined);
  if (config?.ok !== true) return;
  const { testWallet } = (await config.json()) as ConsoleConfig;
  if (testWallet === null) return;
  const { announceTestWallet } = await import('../wallets/test-wallet');
  announceTestWallet(testWallet.accounts);
}

interface WalletWish {
  readonly kind: Kind;
  readonly invitation?: string | undefined;
  /** Text that the wallet shows. */
  readonly statement: string;
}

/** @throws ApiProblem, or the wallet's error where the person rejects the request */
export async function signInByWallet(
  { provider }: BrowserWallet,
  { kind, invitation, statement }: WalletWish,
): Promise<Session> {
  const [account] = (await provider.request({ method: 'eth_requestAccounts' })) as string[];
  const chainId = Number(await provider.request({ method: 'eth_chainId' }));
  const address = getAddress(account ?? '');
  const { data: issued } = await consoleApi.POST('/api/auth/wallet/nonce');
  const message = createSiweMessage({
    domain: location.host,
    uri: location.origin,
    version: '1',
    nonce: issued?.nonce ?? '',
    issuedAt: new Date(),
    ...{ address, chainId, statement },
  });
  const params = [stringToHex(message), address];
  const signature = (await provider.request({ method: 'personal_sign', params })) as string;
  const { data } = await consoleApi.POST('/api/auth/wallet/verify', {
    body: { message, signature, kind, ...(invitation !== undefined && { invitation }) },
  });
  return data as Session;
}
