import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function ApprovalsPage() {
  return <PageTitle>{texts.nav.approvals}</PageTitle>;
}
