import { Anchor, Button, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { deskTexts } from '../desk-texts';
import { PageTitle } from '../../desk/page-title';
import { useIsAdmin } from '../use-role';
import { CreateDialog } from './create-dialog';
import { StandingBadge } from './standing-badge';

type Partner = ConsoleBody<'PartnerSummary'>;

const words = deskTexts.partners;
const COLUMNS: readonly Column<Partner>[] = [
  {
    header: words.columns.name,
    cell: ({ id, name }) => (
      <Anchor
        renderRoot={(props) => (
          <Link to="/operate/partners/$partner" params={{ partner: id }} {...props} />
        )}
      >
        <bdi className="text-of-others">{name}</bdi>
      </Anchor>
    ),
  },
  { header: words.columns.standing, cell: ({ standing }) => <StandingBadge standing={standing} /> },
  {
    header: words.columns.credentials,
    isNumber: true,
    cell: ({ activeCredentials }) => <Amount value={String(activeCredentials)} />,
  },
  {
    header: words.columns.used,
    cell: ({ lastUsedAt }) => <When at={lastUsedAt} none={words.never} />,
  },
  { header: words.columns.created, cell: ({ createdAt }) => <When at={createdAt} /> },
];

/** The partners, by name. */
export function PartnersPage() {
  const [isCreating, setIsCreating] = useState(false);
  const isAdmin = useIsAdmin();
  return (
    <Stack>
      <PageTitle
        actions={
          isAdmin && (
            <Button
              onClick={() => {
                setIsCreating(true);
              }}
            >
              {words.create}
            </Button>
          )
        }
      >
        {words.title}
      </PageTitle>
      <KeyedTable
        caption={words.title}
        queryKey={['operate', 'partners']}
        load={(after, signal) => {
          const query = after === undefined ? {} : { after };
          return dataOf(consoleApi.GET('/api/operate/partners', { params: { query }, signal }));
        }}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={words.empty}
      />
      {isCreating && (
        <CreateDialog
          onClose={() => {
            setIsCreating(false);
          }}
        />
      )}
    </Stack>
  );
}
