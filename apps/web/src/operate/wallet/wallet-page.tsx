import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function WalletPage() {
  return <PageTitle>{texts.nav.wallets}</PageTitle>;
}
