import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { ConfirmDialog } from '../../desk/confirm-dialog';
import { PageTitle } from '../../desk/page-title';
import { Rows } from '../../shared/keyed-table';
import { Loaded } from '../../shared/loaded';
import { Empty } from '../../shared/placeholders';
import { deskTexts } from '../desk-texts';
import { useConsequences } from '../use-consequences';
import { useIsAdmin } from '../use-role';
import { REDEMPTION_COLUMNS, REDEMPTIONS_WIDTH } from './columns';

type Redemption = ConsoleBody<'ListedRedemption'>;

const words = deskTexts.adoption;
/** As many as the console adopts at once. */
const MOST = 100;
const KEY = ['operate', 'redemptions', 'unsealed'];

/** Open redemptions without the MAC of the service, for a person to look at and to vouch for. */
export function AdoptionPage() {
  const [asked, setAsked] = useState<readonly Redemption[]>();
  const [adopted, setAdopted] = useState<number>();
  const isAdmin = useIsAdmin();
  const unsealed = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) =>
      dataOf(consoleApi.GET('/api/operate/unsealed-redemptions', { signal })),
  });
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
      {adopted !== undefined && (
        <Alert color="teal" variant="outline" role="status" title={words.adopted(adopted)} />
      )}
      <Loaded query={unsealed}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>{words.empty}</Empty>
          ) : (
            <>
              {items.length > MOST && <Text>{words.first(MOST, items.length)}</Text>}
              <Rows
                caption={words.table}
                columns={REDEMPTION_COLUMNS}
                rowKey={({ id }) => id}
                items={items.slice(0, MOST)}
                minWidth={REDEMPTIONS_WIDTH}
              />
              {isAdmin ? (
                <Group>
                  <Button
                    onClick={() => {
                      setAsked(items.slice(0, MOST));
                    }}
                  >
                    {words.adopt(Math.min(items.length, MOST))}
                  </Button>
                </Group>
              ) : (
                <Text size="sm">{words.onlyAdmins}</Text>
              )}
            </>
          )
        }
      </Loaded>
      {asked !== undefined && (
        <AdoptDialog
          seen={asked}
          onAdopted={setAdopted}
          onClose={() => {
            setAsked(undefined);
          }}
        />
      )}
    </Stack>
  );
}

interface AdoptDialogProps {
  /** Those that were looked at; one that has moved on since stays as it is. */
  readonly seen: readonly Redemption[];
  readonly onAdopted: (count: number) => void;
  readonly onClose: () => void;
}

function AdoptDialog({ seen, onAdopted, onClose }: AdoptDialogProps) {
  const queries = useQueryClient();
  const consequenceOf = useConsequences();
  const adopt = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/unsealed-redemptions/adopt', {
          body: { redemptions: seen.map(({ id, version }) => ({ id, version })) },
        }),
      ),
    onSuccess: async ({ adopted }) => {
      onAdopted(adopted);
      await queries.invalidateQueries({ queryKey: ['operate', 'redemptions'] });
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={words.adopt(seen.length)}
      consequence={consequenceOf('redemption adopt')}
      second={{ warning: words.warning, sure: words.sure }}
      isPending={adopt.isPending}
      problem={adopt.error}
      onConfirm={() => {
        adopt.mutate();
      }}
      onClose={onClose}
    />
  );
}
