import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function PartnersPage() {
  return <PageTitle>{texts.nav.partners}</PageTitle>;
}
