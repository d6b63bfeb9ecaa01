import { Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { Dialog, HELD } from '../../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { type Column, Rows } from '../../shared/keyed-table';
import { randomUuid } from '../../shared/random-uuid';
import { When } from '../../shared/when';
import { ConfirmDialog } from '../../desk/confirm-dialog';
import { deskTexts } from '../desk-texts';
import { IssuedCredential } from './issued-credential';
import { Card } from '../card';
import { usePartnerConsequences, useIsAdmin } from '../operator';

type Partner = ConsoleBody<'PartnerDetails'>;
type Credential = ConsoleBody<'PartnerCredential'>;

const words = deskTexts.credentials;

/** The partner's credentials. Several can be active, so that a partner changes over before the old one is revoked. */
export function Credentials({ partner }: { readonly partner: Partner }) {
  const [asked, setAsked] = useState<'add' | Credential | undefined>(undefined);
  const isAdmin = useIsAdmin();
  const close = (): void => setAsked(undefined);
  const columns: readonly Column<Credential>[] = [
    { header: words.prefix, cell: ({ keyPrefix }) => `${keyPrefix}…` },
    { header: words.created, cell: ({ createdAt }) => <When at={createdAt} /> },
    {
      header: words.used,
      cell: ({ lastUsedAt }) => <When at={lastUsedAt} none={deskTexts.partners.never} />,
    },
    { header: words.revoked, cell: ({ revokedAt }) => <When at={revokedAt} none={words.active} /> },
    ...(isAdmin
      ? [{ header: words.action, cell: (one: Credential) => <Revoke one={one} onAsk={setAsked} /> }]
      : []),
  ];
  return (
    <Card title={words.title}>
      <Rows
        caption={words.table}
        columns={columns}
        rowKey={({ keyPrefix, createdAt }) => keyPrefix + createdAt}
        items={partner.credentials}
      />
      {isAdmin && (
        <Group mt="sm">
          <Button variant="default" onClick={() => setAsked('add')}>
            {words.add}
          </Button>
        </Group>
      )}
      {asked === 'add' && <AddDialog id={partner.id} onClose={close} />}
      {asked !== undefined && asked !== 'add' && (
        <RevokeDialog
          id={partner.id}
          credential={asked}
          isLast={partner.activeCredentials === 1}
          onClose={close}
        />
      )}
    </Card>
  );
}

function Revoke({ one, onAsk }: { one: Credential; onAsk: (one: Credential) => void }) {
  if (one.revokedAt !== null) return null;
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={words.revokeTitle(one.keyPrefix)}
      onClick={() => onAsk(one)}
    >
      {words.revoke}
    </Button>
  );
}

function AddDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const consequenceOf = usePartnerConsequences(id);
  const [request] = useState(randomUuid);
  const add = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/partners/{partner}/credentials', {
          params: { path: { partner: id } },
          body: { request },
        }),
      ),
    gcTime: 0,
    onSuccess: () => refresh('operate', 'partners'),
  });
  if (add.data !== undefined) {
    return (
      <Dialog onClose={onClose} title={words.add} centered {...HELD}>
        <IssuedCredential issued={add.data} onDone={onClose} />
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      title={words.add}
      consequence={consequenceOf('partner rotate')}
      action={add}
      onClose={() => {
        // The answer with the secret comes once, so the dialog stays open until it arrives.
        if (!add.isPending) onClose();
      }}
    />
  );
}

interface RevokeDialogProps {
  readonly id: string;
  readonly credential: Credential;
  readonly isLast: boolean;
  readonly onClose: () => void;
}

function RevokeDialog({ id, credential: { keyPrefix }, isLast, onClose }: RevokeDialogProps) {
  const consequenceOf = usePartnerConsequences(id);
  const revoke = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/partners/{partner}/credentials/revoke', {
          params: { path: { partner: id } },
          body: { keyPrefix, force: isLast },
        }),
      ),
    onSuccess: async () => {
      await refresh('operate', 'partners');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={words.revokeTitle(keyPrefix)}
      consequence={consequenceOf('partner revoke')}
      second={isLast ? { warning: words.last, sure: words.lastSure } : undefined}
      action={revoke}
      onClose={onClose}
    />
  );
}
