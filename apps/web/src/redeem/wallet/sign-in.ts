import { getAddress } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { type Config, type Connector } from 'wagmi';
import { signMessage } from 'wagmi/actions';
import { ApiProblem } from '../../api/api-problem';
import { playerApi } from '../../api/player-client';
import { serverNowMs } from '../../api/server-clock';
import { sessionStore } from '../session/session-store';
import { walletFailure, type WalletFailure } from './wallet-errors';

export type SignInStep = 'waiting' | 'checking';
export type SignInEnd = 'signed-in' | WalletFailure;

interface SignInOptions {
  readonly wallets: Config;
  readonly connector: Connector | undefined;
  readonly wallet: string;
  readonly chainId: number;
  readonly statement: string;
  readonly onStep: (step: SignInStep) => void;
}

/** Attempts with the same message where the service could not be reached, since the nonce is still unused then. */
const TRIES = 3;
const PAUSE_MS = 1_500;

/** Signs in with a message that the wallet signs (EIP-4361). @throws ApiProblem */
export async function signIn({
  wallets,
  connector,
  wallet,
  chainId,
  statement,
  onStep,
}: SignInOptions): Promise<SignInEnd> {
  const { data: issued } = await playerApi.POST('/api/auth/nonce');
  const account = getAddress(wallet);
  const message = createSiweMessage({
    domain: location.host,
    uri: location.origin,
    address: account,
    version: '1',
    chainId,
    nonce: issued?.nonce ?? '',
    issuedAt: new Date(serverNowMs()),
    statement,
  });
  onStep('waiting');
  let signature: string;
  try {
    signature = await signMessage(wallets, { account, message, ...(connector && { connector }) });
  } catch (error) {
    return walletFailure(error);
  }
  onStep('checking');
  sessionStore.begin(await verify({ message, signature }));
  return 'signed-in';
}

async function verify(signed: { message: string; signature: string }) {
  for (let tried = 1; ; tried++) {
    try {
      const { data } = await playerApi.POST('/api/auth/verify', { body: signed });
      if (data !== undefined) return { wallet: data.wallet, expiresAt: data.expiresAt };
      throw new ApiProblem(200, 'UNEXPECTED_ANSWER', '', undefined);
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 503) || tried === TRIES) throw error;
      await new Promise((wake) => setTimeout(wake, PAUSE_MS));
    }
  }
}
