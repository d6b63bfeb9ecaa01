import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function AuditsPage() {
  return <PageTitle>{texts.nav.audits}</PageTitle>;
}
