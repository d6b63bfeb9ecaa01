import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { WHOLE_LABEL } from '../../desk/confirm-dialog';
import { ActionOutcome } from '../approvals/second-operator';
import { WithTimes } from '../../shared/when';
import { deskTexts } from '../desk-texts';
import { Card } from '../card';
import { OperationDialog } from '../operation-dialog';
import { fieldsOf, type FormField } from '../../desk/operation-form';
import { texts } from '../texts';
import { useApprovalAboveUsd, useMayOperate } from '../operator';

type Redemption = ConsoleBody<'OperatedRedemption'>;
type Action = ConsoleBody<'OperatorAction'>;
type Result = ConsoleBody<'ActionResult'>;

/** The action, and the version of the redemption that the operator saw when deciding. */
interface Asked {
  readonly action: Action;
  readonly version: number;
}

const words = deskTexts.redemption;

/** The actions that the redemption's state allows, each with its consequence. */
export function Actions({ redemption }: { readonly redemption: Redemption }) {
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const [result, setResult] = useState<Result | undefined>(undefined);
  const mayOperate = useMayOperate();
  const { id, actions, version } = redemption;
  return (
    <Card title={words.actions}>
      {result !== undefined && <ActionOutcome result={result} />}
      {actions.length === 0 && <Text>{words.noActions}</Text>}
      <Stack gap="md">
        {actions.map((action) => (
          <div key={action.action}>
            {action.consequence !== '' && (
              <Text size="sm" className="text-of-others" mb={4}>
                {action.consequence}
              </Text>
            )}
            {action.unavailable !== null && (
              <Text size="sm" fw={700} className="text-of-others">
                <WithTimes text={action.unavailable} />
              </Text>
            )}
            <Group>
              <Button
                variant={action.isFinal ? 'outline' : 'default'}
                {...(action.isFinal && { color: 'red' })}
                {...WHOLE_LABEL}
                disabled={!mayOperate || action.unavailable !== null}
                onClick={() => setAsked({ action, version })}
              >
                {action.title}
              </Button>
            </Group>
          </div>
        ))}
      </Stack>
      {!mayOperate && actions.length > 0 && <Text size="sm">{words.viewer}</Text>}
      {asked !== undefined && (
        <ActionDialog
          id={id}
          asked={asked}
          onDone={setResult}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Card>
  );
}

interface ActionDialogProps {
  readonly id: string;
  readonly asked: Asked;
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
}

const FORMS: Readonly<Record<string, readonly FormField[]>> = {
  'redemption set-partner-tx': fieldsOf(forms.SetPartnerTransaction),
  'redemption resolve': fieldsOf(forms.ResolveRedemption),
};
const [REASON] = fieldsOf(forms.RetryRedemption);

function ActionDialog({ id, asked, onDone, onClose }: ActionDialogProps) {
  const aboveUsd = useApprovalAboveUsd() ?? '0';
  const { action: asks, version } = asked;
  const { command, title, consequence, input, fields, isFinal, needsApproval } = asks;
  // A note says why already.
  const needsReason = needsApproval || (isFinal && input !== 'settledByHand');
  const inputs = FORMS[command]?.filter(({ name }) => name === input) ?? [];
  return (
    <OperationDialog
      title={title}
      consequence={consequence}
      isFinal={isFinal}
      fields={[...inputs, ...(needsReason && REASON !== undefined ? [REASON] : [])]}
      send={(body) => dataOf(perform(command, id, { version, ...fields, ...body }))}
      onDone={onDone}
      // An action on an old version is refused; the refresh shows the current state behind the dialog.
      onError={() => void refresh('operate', 'redemptions', 'one', id)}
      onClose={onClose}
    >
      {needsApproval && <Text fw={700}>{texts.approvals.needed(aboveUsd)}</Text>}
    </OperationDialog>
  );
}

/** Sends the request of an action, whose route is named after its command. */
function perform(command: string, id: string, body: ConsoleBody<'RetryRedemption'>) {
  const route = `/api/operate/redemptions/{id}/${command.split(' ')[1] ?? ''}`;
  return consoleApi.POST(route as '/api/operate/redemptions/{id}/retry', {
    params: { path: { id } },
    body,
  });
}
