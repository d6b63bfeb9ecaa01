import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../api/query-client';
import { ApiProblem } from '../api/api-problem';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { Rows } from '../shared/keyed-table';
import { Loaded, Problem } from '../shared/loaded';
import { When } from '../shared/when';
import { choicesOf } from './credential-choices';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { PageTitle } from '../desk/page-title';
import { RotationDialog, SecretDialog } from './secret-dialogs';
import { texts } from './texts';
import { type Credential, STANDING_KEY, useStanding } from './queries';

const words = texts.credentials;
type Issued = ConsoleBody<'OwnIssuedCredential'>;
interface Action {
  readonly name: 'rotate' | 'revoke';
  readonly keyPrefix: string;
  /** Whether no active credential without an end is left after the revocation. */
  readonly isLast: boolean;
}

export function CredentialsPage() {
  const standing = useStanding();
  const [action, setAction] = useState<Action>();
  const [issued, setIssued] = useState<Issued>();
  const changed = async () => {
    setAction(undefined);
    await refresh(...STANDING_KEY);
  };
  return (
    <>
      <PageTitle>{texts.nav.credentials}</PageTitle>
      <Loaded query={standing}>
        {({ credentials }) => (
          <Stack>
            {!credentials.some(({ isActive }) => isActive) && <Problem problem={words.noneWorks} />}
            <Credentials credentials={credentials} onChoose={setAction} />
          </Stack>
        )}
      </Loaded>
      {action?.name === 'rotate' && (
        <RotationDialog
          title={words.rotate}
          consequence={words.rotating(action.keyPrefix)}
          overlapLabel={words.overlap}
          rotate={(overlapHours) => {
            const body = { keyPrefix: action.keyPrefix, overlapHours };
            return dataOf(consoleApi.POST('/api/partner/credentials/rotate', { body }));
          }}
          onClose={() => setAction(undefined)}
          onMade={(made) => {
            setIssued(made);
            void changed();
          }}
        />
      )}
      {action?.name === 'revoke' && (
        <Revocation
          {...action}
          onClose={() => setAction(undefined)}
          onRevoked={() => void changed()}
        />
      )}
      {issued !== undefined && (
        <SecretDialog
          title={words.issued}
          store={words.store}
          stored={words.stored}
          secrets={[
            { label: 'X-API-KEY', value: issued.apiKey },
            { label: words.secret, value: issued.sharedSecret },
          ]}
          until={{ label: words.goodUntil, at: issued.goodUntil }}
          onStored={() => setIssued(undefined)}
        />
      )}
    </>
  );
}

interface CredentialsProps {
  readonly credentials: readonly Credential[];
  readonly onChoose: (action: Action) => void;
}

function Credentials({ credentials, onChoose }: CredentialsProps) {
  return (
    <Rows
      caption={texts.nav.credentials}
      items={credentials}
      rowKey={({ keyPrefix, createdAt }) => keyPrefix + createdAt}
      columns={[
        { header: words.key, cell: ({ keyPrefix }) => <code>{keyPrefix}…</code> },
        { header: words.created, cell: ({ createdAt }) => <When at={createdAt} /> },
        {
          header: words.lastUsed,
          cell: ({ lastUsedAt }) => <When at={lastUsedAt} none={texts.common.never} />,
        },
        { header: texts.common.status, cell: (one) => <Standing credential={one} /> },
        {
          header: 'Actions',
          isAction: true,
          cell: (one) => <Actions one={one} all={credentials} onChoose={onChoose} />,
        },
      ]}
    />
  );
}

interface ActionsProps {
  readonly one: Credential;
  readonly all: readonly Credential[];
  readonly onChoose: (action: Action) => void;
}

function Actions({ one, all, onChoose }: ActionsProps) {
  const { keyPrefix } = one;
  const { canReplace, canRevoke, isLast } = choicesOf(one, all);
  return (
    <Group gap="xs">
      {canReplace && (
        <Button size="compact-sm" onClick={() => onChoose({ name: 'rotate', keyPrefix, isLast })}>
          {words.rotate}
        </Button>
      )}
      {canRevoke && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onChoose({ name: 'revoke', keyPrefix, isLast })}
        >
          {words.revoke}
        </Button>
      )}
    </Group>
  );
}

function Standing({ credential }: { readonly credential: Credential }) {
  const { revokedAt, endsAt, isActive } = credential;
  if (revokedAt !== null) {
    return (
      <>
        {words.revoked} <When at={revokedAt} />
      </>
    );
  }
  if (endsAt === null) return words.working;
  return isActive ? (
    <>
      {words.ending} <When at={endsAt} />
    </>
  ) : (
    words.ended
  );
}

interface RevocationProps {
  readonly keyPrefix: string;
  readonly isLast: boolean;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}

/** Revokes a credential; the last one without an end needs a second confirmation. */
function Revocation({ keyPrefix, isLast: wasLast, onClose, onRevoked }: RevocationProps) {
  const revoke = useMutation({
    mutationFn: (force: boolean) =>
      consoleApi.POST('/api/partner/credentials/revoke', { body: { keyPrefix, force } }),
    onSuccess: onRevoked,
  });
  const { error } = revoke;
  // Another credential may have ended since the list was read.
  const hasBecomeLast = error instanceof ApiProblem && error.code === 'LAST_CREDENTIAL';
  const isLast = wasLast || hasBecomeLast;
  return (
    <ConfirmDialog
      title={words.revoke}
      isFinal
      consequence={words.revoking(keyPrefix)}
      action={{
        ...revoke,
        error: hasBecomeLast ? null : error,
        mutate: () => revoke.mutate(isLast),
      }}
      second={isLast ? { warning: words.last, sure: words.sure } : undefined}
      onClose={onClose}
    />
  );
}
