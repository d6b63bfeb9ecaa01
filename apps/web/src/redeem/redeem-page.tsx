import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { loadPart } from '../shell/upgrades';
import { type BrowserWallet, rememberedWallet } from '../wallets/browser-wallets';
import { LoadingCard } from './loading-card';
import { sessionStore, useSession } from './session/session-store';
import { WalletChoice } from './wallet/wallet-choice';

/** The code that connects wallets is loaded only for players who have chosen a wallet, now or earlier. */
const loadPlayerPage = () => loadPart(() => import('./player-page'));
const PlayerPage = lazy(async () => ({ default: (await loadPlayerPage()).PlayerPage }));

const isKnown = (): boolean => sessionStore.get() !== undefined || rememberedWallet() !== undefined;

// Starts loading concurrently with the page's requests. A failure here is reported when the page is rendered.
if (isKnown()) void loadPlayerPage().catch(() => undefined);

/** Leads from the choice of a wallet to its signature. A signed-in player sees all data even with a locked wallet. */
export function RedeemPage() {
  const session = useSession();
  const [wasKnown] = useState(isKnown);
  const [chosen, setChosen] = useState<BrowserWallet>();
  if (session === undefined && chosen === undefined && !wasKnown) {
    return <Visitor onChosen={setChosen} />;
  }
  return (
    <Suspense fallback={<LoadingCard />}>
      <PlayerPage chosen={chosen} />
    </Suspense>
  );
}

function Visitor({ onChosen }: { readonly onChosen: (wallet: BrowserWallet) => void }) {
  const { mutate, variables, isPending, isError } = useMutation({
    mutationFn: async (wallet: BrowserWallet) => {
      await loadPlayerPage();
      onChosen(wallet);
    },
  });
  const busy = isPending ? variables : undefined;
  return (
    <WalletChoice choosing={{ busy, failure: isError ? 'failed' : undefined, choose: mutate }} />
  );
}
