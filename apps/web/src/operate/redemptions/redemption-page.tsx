import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function RedemptionPage() {
  return <PageTitle>{texts.nav.redemptions}</PageTitle>;
}
