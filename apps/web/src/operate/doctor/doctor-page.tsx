import { PageTitle } from '../page-title';
import { texts } from '../texts';

export function DoctorPage() {
  return <PageTitle>{texts.nav.doctor}</PageTitle>;
}
