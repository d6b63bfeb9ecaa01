import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { ConfirmDialog, WHOLE_LABEL } from '../../desk/confirm-dialog';
import { ActionOutcome, ReasonField } from '../approvals/second-operator';
import { WithTimes } from '../../shared/when';
import { deskTexts } from '../desk-texts';
import { Card } from '../card';
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
const LONGEST = 255;

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

function ActionDialog({ id, asked, onDone, onClose }: ActionDialogProps) {
  const aboveUsd = useApprovalAboveUsd() ?? '0';
  const [given, setGiven] = useState('');
  const [reason, setReason] = useState('');
  const { action, title, consequence, input, isFinal, needsApproval } = asked.action;
  // A note says why already.
  const needsReason = needsApproval || (isFinal && input !== 'note');
  const perform = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/redemptions/{redemption}/actions', {
          params: { path: { redemption: id } },
          body: {
            ...{ action, version: asked.version },
            ...(input !== null && { given }),
            ...(needsReason && { reason }),
          },
        }),
      ),
    onSuccess: async (result) => {
      onDone(result);
      await refresh('operate');
      onClose();
    },
    // An action on an old version is refused; the refresh shows the current state behind the dialog.
    onError: () => refresh('operate', 'redemptions', 'one', id),
  });
  return (
    <ConfirmDialog
      title={title}
      consequence={consequence}
      isFinal={isFinal}
      isReady={(input === null || given.trim() !== '') && (!needsReason || reason.trim() !== '')}
      action={perform}
      onClose={onClose}
    >
      {input !== null && (
        <TextInput
          label={words[input]}
          maxLength={LONGEST}
          data-autofocus
          value={given}
          onChange={({ currentTarget: { value } }) => setGiven(value)}
        />
      )}
      {needsApproval && <Text fw={700}>{texts.approvals.needed(aboveUsd)}</Text>}
      {needsReason && <ReasonField value={reason} onChange={setReason} />}
    </ConfirmDialog>
  );
}
