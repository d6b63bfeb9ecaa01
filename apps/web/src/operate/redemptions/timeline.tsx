import { Text } from '@mantine/core';
import { type ConsoleBody } from '../../api/console-client';
import { type Column, Rows } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { CallDetails, callOutcome } from '../call-details';
import { deskTexts } from '../desk-texts';
import { Card } from '../card';

type Redemption = ConsoleBody<'OperatedRedemption'>;
type Transition = ConsoleBody<'RedemptionTransition'>;
type Call = ConsoleBody<'PartnerCall'>;

type Moment =
  | { readonly at: string; readonly transition: Transition; readonly call?: never }
  | { readonly at: string; readonly call: Call; readonly transition?: never };

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
  const moments: Moment[] = [
    ...transitions.map((transition) => ({ at: transition.at, transition })),
    ...calls.map((call) => ({ at: call.begunAt, call })),
  ].toSorted((one, other) => one.at.localeCompare(other.at));
  return (
    <Card title={words.timeline}>
      <Rows
        caption={words.timelineTable}
        columns={COLUMNS}
        rowKey={({ transition, call }) =>
          transition === undefined ? call.requestId : String(transition.version)
        }
        items={moments}
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
