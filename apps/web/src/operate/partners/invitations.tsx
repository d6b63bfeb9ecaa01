import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { refresh } from '../../api/query-client';
import { consoleApi, type ConsoleBody } from '../../api/console-client';
import { type Column, Rows } from '../../shared/keyed-table';
import { Problem } from '../../shared/loaded';
import { When } from '../../shared/when';
import { deskTexts } from '../desk-texts';
import { useIsAdmin } from '../operator';

type Invitation = ConsoleBody<'PartnerInvitation'>;

interface InvitationsProps {
  readonly partner: string;
  readonly invitations: readonly Invitation[];
}

const words = deskTexts.members;
const COLUMNS: readonly Column<Invitation>[] = [
  { header: words.note, cell: ({ note }) => <bdi className="text-of-others">{note}</bdi> },
  { header: words.state, cell: ({ state }) => words.states[state] },
  {
    header: words.by,
    cell: ({ invitedBy }) => <span className="text-of-others">{invitedBy}</span>,
  },
  { header: words.expires, cell: ({ expiresAt }) => <When at={expiresAt} /> },
];

/** The invitations of a partner; open ones can be withdrawn. */
export function Invitations({ partner, invitations }: InvitationsProps) {
  const isAdmin = useIsAdmin();
  const withdraw = useMutation({
    mutationFn: (invitation: string) =>
      consoleApi.POST('/api/operate/partners/{partner}/invitations/{invitation}/withdraw', {
        params: { path: { partner, invitation } },
      }),
    onSuccess: () => refresh('operate', 'partners', partner),
  });
  const action = ({ id, note, state }: Invitation) =>
    state === 'open' && (
      <Button
        size="xs"
        variant="default"
        aria-label={`${words.withdraw}: ${note}`}
        loading={withdraw.isPending}
        onClick={() => withdraw.mutate(id)}
      >
        {words.withdraw}
      </Button>
    );
  return (
    <>
      <Rows
        caption={words.invitations}
        columns={isAdmin ? [...COLUMNS, { header: words.action, cell: action }] : COLUMNS}
        rowKey={({ id }) => id}
        items={invitations}
      />
      {withdraw.isError && <Problem problem={withdraw.error} />}
    </>
  );
}
