import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { PageLink } from '../../shared/page-link';
import { getFrom } from '../../api/console-client';
import { PageTitle } from '../../desk/page-title';
import { Empty, Loaded } from '../../shared/loaded';
import { deskTexts } from '../desk-texts';

const words = deskTexts.partner;

/** Redirects to the partner with this name, for an address that a person has typed. */
export function PartnerByName({ name }: { readonly name: string }) {
  const found = useQuery({
    queryKey: ['operate', 'partners', 'named', name],
    queryFn: getFrom('/api/operate/partners', { params: { query: { name } } }),
  });
  return (
    <Loaded query={found}>
      {({ items }) => {
        const partner = items.find((one) => one.name === name);
        if (partner === undefined) return <NoneCalled name={name} />;
        const params = { partner: partner.id };
        return <Navigate to="/operate/partners/$partner" params={params} replace />;
      }}
    </Loaded>
  );
}

/** Links to the list, narrowed to partners whose names contain this text. */
function NoneCalled({ name }: { readonly name: string }) {
  return (
    <Stack align="start">
      <PageTitle>{deskTexts.partners.title}</PageTitle>
      <Empty>{words.noneCalled(name)}</Empty>
      <PageLink to="/operate/partners" search={{ name }}>
        {words.list}
      </PageLink>
    </Stack>
  );
}
