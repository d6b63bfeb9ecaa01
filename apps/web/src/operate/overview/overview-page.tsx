import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function OverviewPage() {
  return <PageTitle>{texts.nav.overview}</PageTitle>;
}
