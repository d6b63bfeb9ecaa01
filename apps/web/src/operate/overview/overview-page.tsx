import { SimpleGrid } from '@mantine/core';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';
import { AlertsCard } from './alerts-card';
import { IndexCard } from './index-card';
import { PriceCard } from './price-card';
import { RedemptionsCard } from './redemptions-card';
import { ServicesCard } from './services-card';
import { VaultCard } from './vault-card';

/** Each card loads its own data, so a failed part affects only its card. */
export function OverviewPage() {
  return (
    <>
      <PageTitle>{texts.nav.overview}</PageTitle>
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} spacing="md">
        <RedemptionsCard />
        <AlertsCard />
        <ServicesCard />
        <IndexCard />
        <PriceCard />
        <VaultCard />
      </SimpleGrid>
    </>
  );
}
