import { Button, Stack, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { PageLink } from '../../shared/page-link';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { textsOf } from '../../shared/search-texts';
import { When } from '../../shared/when';
import { deskTexts } from '../desk-texts';
import { PageTitle } from '../../desk/page-title';
import { useIsAdmin } from '../operator';
import { CreateDialog } from './create-dialog';
import { StandingBadge } from '../badges';

type Partner = ConsoleBody<'PartnerSummary'>;

const words = deskTexts.partners;
const LONGEST_NAME = 100;
const COLUMNS: readonly Column<Partner>[] = [
  {
    header: words.columns.name,
    cell: ({ id, name }) => (
      <PageLink to="/operate/partners/$partner" params={{ partner: id }}>
        <bdi className="text-of-others">{name}</bdi>
      </PageLink>
    ),
  },
  { header: words.columns.standing, cell: (partner) => <StandingBadge partner={partner} /> },
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

export function PartnersPage() {
  const [isCreating, setIsCreating] = useState(false);
  const { name: part = '' } = useSearch({ from: '/operate/partners' });
  const navigate = useNavigate();
  const isAdmin = useIsAdmin();
  return (
    <Stack>
      <PageTitle
        actions={isAdmin && <Button onClick={() => setIsCreating(true)}>{words.create}</Button>}
      >
        {words.title}
      </PageTitle>
      <TextInput
        label={words.search}
        maw={320}
        maxLength={LONGEST_NAME}
        defaultValue={part}
        onChange={({ currentTarget: { value } }) => {
          const search = textsOf({ name: value }, ['name']);
          void navigate({ to: '/operate/partners', search, replace: true });
        }}
      />
      <KeyedTable
        caption={words.title}
        queryKey={['operate', 'partners', part]}
        load={(after, signal) => {
          const query = {
            ...(after !== undefined && { after }),
            ...(part !== '' && { name: part }),
          };
          return dataOf(consoleApi.GET('/api/operate/partners', { params: { query }, signal }));
        }}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={part === '' ? words.empty : words.noneFits}
      />
      {isCreating && <CreateDialog onClose={() => setIsCreating(false)} />}
    </Stack>
  );
}
