import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function LogPage() {
  return <PageTitle>{texts.nav.log}</PageTitle>;
}
