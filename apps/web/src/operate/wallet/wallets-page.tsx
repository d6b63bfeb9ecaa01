import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function WalletsPage() {
  return <PageTitle>{texts.nav.wallets}</PageTitle>;
}
