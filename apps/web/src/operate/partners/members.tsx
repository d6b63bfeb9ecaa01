import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { forms } from '../../api/console-forms.generated';
import { refresh } from '../../api/query-client';
import { Dialog, HELD } from '../../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf, getFrom } from '../../api/console-client';
import { type Column, Rows } from '../../shared/keyed-table';
import { Loaded, Problem } from '../../shared/loaded';
import { When } from '../../shared/when';
import { ConfirmDialog } from '../../desk/confirm-dialog';
import { CopyLine } from './issued-credential';
import { deskTexts } from '../desk-texts';
import { Card } from '../card';
import { usePartnerConsequences, useIsAdmin } from '../operator';
import { isOfField, OperationFields } from '../../desk/operation-fields';
import { changesOf, fieldsOf, initialValues, isReady } from '../../desk/operation-form';
import { Invitations } from './invitations';

type Member = ConsoleBody<'PartnerMember'>;

const words = deskTexts.members;
const INVITE = fieldsOf(forms.InviteMember);

export function Members({ partner }: { readonly partner: string }) {
  const [asked, setAsked] = useState<'invite' | Member | undefined>(undefined);
  const isAdmin = useIsAdmin();
  const members = useQuery({
    queryKey: ['operate', 'partners', partner, 'members'],
    queryFn: getFrom('/api/operate/partners/{partner}/members', { params: { path: { partner } } }),
  });
  const close = (): void => setAsked(undefined);
  return (
    <Card title={words.title}>
      <Loaded query={members}>
        {({ members: found, invitations }) => (
          <Stack gap="sm">
            {found.length === 0 ? (
              <Text>{words.none}</Text>
            ) : (
              <Rows
                caption={words.table}
                columns={columnsOf(isAdmin, setAsked)}
                rowKey={({ subject }) => subject}
                items={found}
              />
            )}
            {invitations.length > 0 && <Invitations partner={partner} invitations={invitations} />}
          </Stack>
        )}
      </Loaded>
      {isAdmin && (
        <Group mt="sm">
          <Button variant="default" onClick={() => setAsked('invite')}>
            {words.invite}
          </Button>
        </Group>
      )}
      {asked === 'invite' && <InviteDialog partner={partner} onClose={close} />}
      {asked !== undefined && asked !== 'invite' && (
        <RemoveDialog partner={partner} member={asked} onClose={close} />
      )}
    </Card>
  );
}

function columnsOf(isAdmin: boolean, onRemove: (one: Member) => void): readonly Column<Member>[] {
  const columns: readonly Column<Member>[] = [
    { header: words.name, cell: ({ name }) => <bdi className="text-of-others">{name}</bdi> },
    {
      header: words.subject,
      cell: ({ subject }) => <span className="text-of-others">{subject}</span>,
    },
    { header: words.since, cell: ({ addedAt }) => <When at={addedAt} /> },
  ];
  if (!isAdmin) return columns;
  const remove = (member: Member) => (
    <Button
      size="xs"
      variant="default"
      aria-label={words.removeTitle(member.name)}
      onClick={() => onRemove(member)}
    >
      {words.remove}
    </Button>
  );
  return [...columns, { header: words.action, cell: remove }];
}

interface DialogProps {
  readonly partner: string;
  readonly onClose: () => void;
}

function InviteDialog({ partner, onClose }: DialogProps) {
  const consequenceOf = usePartnerConsequences(partner);
  const [form, setForm] = useState(() => initialValues(INVITE));
  const invite = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/partners/{partner}/invitations', {
          params: { path: { partner } },
          body: changesOf(INVITE, {}, form) as ConsoleBody<'InviteMember'>,
        }),
      ),
    gcTime: 0,
    onSuccess: () => refresh('operate', 'partners', partner),
  });
  return (
    <Dialog
      onClose={onClose}
      title={words.invite}
      centered
      {...((invite.isPending || invite.data !== undefined) && HELD)}
    >
      <Stack>
        <Text>{consequenceOf('partner invite')}</Text>
        {invite.data === undefined ? (
          <>
            <OperationFields
              fields={INVITE}
              values={form}
              onChange={setForm}
              error={invite.error}
            />
            {invite.isError && !isOfField(INVITE, invite.error) && (
              <Problem problem={invite.error} />
            )}
            <Group justify="end">
              <Button
                loading={invite.isPending}
                disabled={!isReady(INVITE, form)}
                onClick={() => invite.mutate()}
              >
                {words.invite}
              </Button>
            </Group>
          </>
        ) : (
          <>
            <Text>{words.linkOnce}</Text>
            <CopyLine label={words.link} value={invite.data.url} />
            <Button onClick={onClose}>{words.linkDone}</Button>
          </>
        )}
      </Stack>
    </Dialog>
  );
}

function RemoveDialog({ partner, member, onClose }: DialogProps & { readonly member: Member }) {
  const consequenceOf = usePartnerConsequences(partner);
  const remove = useMutation({
    mutationFn: () =>
      consoleApi.POST('/api/operate/partners/{partner}/members/remove', {
        params: { path: { partner } },
        body: { subject: member.subject },
      }),
    onSuccess: async () => {
      await refresh('operate', 'partners', partner);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(member.name)}
      consequence={consequenceOf('partner remove-member')}
      action={remove}
      onClose={onClose}
    />
  );
}
