import { useState } from 'react';
import { useConnect } from 'wagmi';
import { type BrowserWallet } from '../../wallets/browser-wallets';
import { rememberWallet } from './remembered-wallet';
import { connectorOf } from './wagmi-config';
import { type Choosing } from './wallet-choice';
import { walletFailure } from './wallet-errors';

/** Asks a wallet for its account. */
export function useConnectWallet(): Choosing {
  const { mutate, isPending, isError, error } = useConnect();
  const [wallet, setWallet] = useState<BrowserWallet>();
  return {
    busy: isPending ? wallet : undefined,
    failure: isError ? walletFailure(error) : undefined,
    choose: (chosen) => {
      setWallet(chosen);
      const onSuccess = (): void => rememberWallet(chosen.info.rdns);
      mutate({ connector: connectorOf(chosen) }, { onSuccess });
    },
  };
}
