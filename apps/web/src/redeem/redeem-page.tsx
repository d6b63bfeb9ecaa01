import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { loadPart } from '../shell/upgrades';
import { type BrowserWallet, rememberedWallet } from '../wallets/browser-wallets';
import { LoadingCard } from './loading-card';
import { sessionStore, useSession } from './session/session-store';
import { WalletChoice } from './wallet/wallet-choice';

/** What connects wallets is loaded for those who have chosen one, now or before. */
const loadPlayerPage = () => loadPart(() => import('./player-page'));
const PlayerPage = lazy(async () => ({ default: (await loadPlayerPage()).PlayerPage }));

const isKnown = (): boolean => sessionStore.get() !== undefined || rememberedWallet() !== undefined;

// At once, beside what the page asks the services; where it fails, the page fails when it is shown.
if (isKnown()) void loadPlayerPage().catch(() => undefined);

/** First a wallet, then its signature; who is signed in sees the points and the redemptions, even where the wallet is locked. */
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
