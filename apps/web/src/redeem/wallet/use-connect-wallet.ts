import { useState } from 'react';
import { useConnect } from 'wagmi';
import { type BrowserWallet } from '../../wallets/browser-wallets';
import { rememberWallet } from './remembered-wallet';
import { connectorOf } from './wagmi-config';
import { type Choosing } from './wallet-choice';

/** Asks a wallet for its account. */
export function useConnectWallet(): Choosing {
  const { mutate, isPending, isError } = useConnect();
  const [wallet, setWallet] = useState<BrowserWallet>();
  return {
    busy: isPending ? wallet : undefined,
    hasFailed: isError,
    choose: (chosen) => {
      setWallet(chosen);
      const onSuccess = (): void => {
        rememberWallet(chosen.info.rdns);
      };
      mutate({ connector: connectorOf(chosen) }, { onSuccess });
    },
  };
}
