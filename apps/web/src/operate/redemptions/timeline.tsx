import { Text } from '@mantine/core';
import { type ConsoleBody } from '../../api/console-client';
import { type Column, Rows } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { CallDetails, callOutcome } from '../call-details';
import { deskTexts } from '../desk-texts';
import { Card } from '../card';
import { type Moment, momentsOf } from './moments';

type Redemption = ConsoleBody<'OperatedRedemption'>;
const words = deskTexts.redemption;
const COLUMNS: readonly Column<Moment>[] = [
  { header: words.at, cell: ({ at }) => <When at={at} /> },
  { header: words.what, cell: (moment) => <What moment={moment} /> },
  {
    header: words.by,
    cell: ({ transition, call }) =>
      transition === undefined ? (
        <CallDetails call={call} />
      ) : (
        <span className="text-of-others">{transition.actor}</span>
      ),
  },
];

export function Timeline({
  redemption: { transitions, calls },
}: {
  readonly redemption: Redemption;
}) {
  return (
    <Card title={words.timeline}>
      <Rows
        caption={words.timelineTable}
        columns={COLUMNS}
        rowKey={({ transition, call }) =>
          transition === undefined ? call.requestId : String(transition.version)
        }
        items={momentsOf(transitions, calls)}
      />
    </Card>
  );
}

function What({ moment: { transition, call } }: { readonly moment: Moment }) {
  if (transition === undefined) {
    return (
      <Text span inherit>
        {words.call} {call.step}: {callOutcome(call)}
        {call.says !== null && `. ${call.says}`}
      </Text>
    );
  }
  const { event, from, to, reason, version } = transition;
  const states = from === null || from === to ? to : `${from} → ${to}`;
  return (
    <Text span inherit>
      {event}: {states}
      {reason !== null && ` (${reason})`}{' '}
      <Text span size="xs" c="dimmed">
        {words.transition} {version}
      </Text>
    </Text>
  );
}
