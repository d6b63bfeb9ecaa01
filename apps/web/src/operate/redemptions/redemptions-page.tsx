import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function RedemptionsPage() {
  return <PageTitle>{texts.nav.redemptions}</PageTitle>;
}
