import { Alert, Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { numberToHex } from 'viem';
import { useConfig, useConnection } from 'wagmi';
import { switchChain } from 'wagmi/actions';
import { useTexts } from '../../texts/texts-context';
import { type BrowserWallet } from '../../wallets/browser-wallets';
import { useRedeemConfig } from '../config-context';

/** Reports that the wallet is on another network, and switches it to the right one. */
export function SwitchNetwork({ chainId }: { readonly chainId: number }) {
  const { claim: words } = useTexts().texts.redeem;
  const { networkName, networkLabel } = useRedeemConfig();
  const change = useSwitchNetwork(chainId);
  return (
    <Alert color="yellow" role="status">
      <Stack gap="sm" align="start">
        <Text size="sm">{words.wrongNetwork(networkName)}</Text>
        <Button loading={change.isPending} onClick={() => change.mutate()}>
          {words.switchTo(networkName)}
        </Button>
        {change.isError && <Text size="sm">{words.switchFailed(networkLabel)}</Text>}
      </Stack>
    </Alert>
  );
}

/** Switches the network. A wallet that does not know the network can add it only with an RPC URL. */
function useSwitchNetwork(chainId: number) {
  const wallets = useConfig();
  const { connector } = useConnection();
  const { walletRpcUrl } = useRedeemConfig();
  return useMutation({
    mutationFn: async () => {
      if (walletRpcUrl !== null) {
        await switchChain(wallets, { chainId });
        return;
      }
      const provider = (await connector?.getProvider()) as BrowserWallet['provider'] | undefined;
      const params = [{ chainId: numberToHex(chainId) }];
      await provider?.request({ method: 'wallet_switchEthereumChain', params });
    },
  });
}
