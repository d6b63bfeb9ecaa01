import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function ReconciliationPage() {
  return <PageTitle>{texts.nav.reconciliation}</PageTitle>;
}
