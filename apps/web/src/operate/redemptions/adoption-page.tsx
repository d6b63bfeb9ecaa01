import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf, getFrom } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { PageTitle } from '../../desk/page-title';
import { Rows } from '../../shared/keyed-table';
import { Empty, Loaded } from '../../shared/loaded';
import { ActionOutcome } from '../approvals/second-operator';
import { deskTexts } from '../desk-texts';
import { OperationDialog } from '../operation-dialog';
import { fieldsOf } from '../../desk/operation-form';
import { useConsequences, useHasSecondOperator, useIsAdmin } from '../operator';
import { REDEMPTION_COLUMNS, REDEMPTIONS_WIDTH } from './columns';

type Redemption = ConsoleBody<'ListedRedemption'>;
type Result = ConsoleBody<'ActionResult'>;

const words = deskTexts.adoption;
const FIELDS = fieldsOf(forms.AdoptRedemptions);
/** Maximum number of redemptions that the console adopts at once. */
const MOST = 100;
const KEY = ['operate', 'redemptions', 'unsealed'];

/** Open redemptions without the service's MAC, for an administrator to check and adopt. */
export function AdoptionPage() {
  const [asked, setAsked] = useState<readonly Redemption[]>();
  const [result, setResult] = useState<Result>();
  const isAdmin = useIsAdmin();
  const unsealed = useQuery({
    queryKey: KEY,
    queryFn: getFrom('/api/operate/unsealed-redemptions'),
  });
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
      {result !== undefined && <ActionOutcome result={result} />}
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
                  <Button onClick={() => setAsked(items.slice(0, MOST))}>
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
        <AdoptDialog seen={asked} onDone={setResult} onClose={() => setAsked(undefined)} />
      )}
    </Stack>
  );
}

interface AdoptDialogProps {
  /** The redemptions as shown; a redemption that has changed since is not adopted. */
  readonly seen: readonly Redemption[];
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

function AdoptDialog({ seen, onDone, onClose }: AdoptDialogProps) {
  const consequenceOf = useConsequences();
  const needsReason = useHasSecondOperator();
  return (
    <OperationDialog
      title={words.adopt(seen.length)}
      consequence={consequenceOf('redemption adopt')}
      isFinal
      second={{ warning: words.warning, sure: words.sure }}
      fields={needsReason ? FIELDS : []}
      send={(body) => {
        const redemptions = seen.map(({ id, version }) => ({ id, version }));
        return dataOf(
          consoleApi.POST('/api/operate/unsealed-redemptions/adopt', {
            body: { redemptions, ...body },
          }),
        );
      }}
      onDone={onDone}
      onClose={onClose}
    />
  );
}
