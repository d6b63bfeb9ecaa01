import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function PartnerPage() {
  return <PageTitle>{texts.nav.partners}</PageTitle>;
}
