import { Button, Stack, Switch, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf, pollFrom } from '../../api/console-client';
import { useNow } from '../../api/server-clock';
import { Rows } from '../../shared/keyed-table';
import { Empty, Loaded, Problem } from '../../shared/loaded';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { spanText, When } from '../../shared/when';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';
import { useMayOperate } from '../operator';

type Report = ConsoleBody<'DoctorReport'>;
type Finding = ConsoleBody<'Finding'>;

const QUERY = ['operate', 'doctor'];
const ASK_MS = 1_000;
const TONES: Readonly<Record<Finding['state'], Tone>> = {
  ok: 'good',
  warning: 'warning',
  fault: 'bad',
  'not-checked': 'neutral',
};
const words = texts.doctor;

/** Runs the doctor on request; the page polls while it runs. */
export function DoctorPage() {
  const queries = useQueryClient();
  const report = useQuery({
    queryKey: QUERY,
    queryFn: (context) => pollFrom('/api/operate/doctor')(context),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? ASK_MS : false),
  });
  const look = useMutation({
    mutationFn: () => dataOf(consoleApi.POST('/api/operate/doctor')),
    onSuccess: (begun) => queries.setQueryData(QUERY, begun),
  });
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
      <Loaded query={report}>
        {(data) => (
          <>
            <LookButton report={data} isStarting={look.isPending} onLook={() => look.mutate()} />
            {look.isError && <Problem problem={look.error} />}
            {data.state === 'never' ? <Empty>{words.never}</Empty> : <Findings report={data} />}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

interface LookButtonProps {
  readonly report: Report;
  readonly isStarting: boolean;
  readonly onLook: () => void;
}

function LookButton({ report: { state, nextAt }, isStarting, onLook }: LookButtonProps) {
  const mayOperate = useMayOperate();
  const nowMs = useNow();
  const waitMs = nextAt === null ? 0 : Date.parse(nextAt) - nowMs;
  const isRunning = state === 'running';
  const label = waitMs > 0 && !isRunning ? words.again(spanText(waitMs / 1000)) : words.look;
  return (
    <div>
      <Button
        onClick={onLook}
        loading={isStarting || isRunning}
        disabled={!mayOperate || waitMs > 0}
      >
        {label}
      </Button>
      {!mayOperate && <Text size="sm">{texts.shared.onlyOperators}</Text>}
    </div>
  );
}

function Findings({ report }: { readonly report: Report }) {
  const [showsAll, setShowsAll] = useState(false);
  const { findings, waiting, state, finishedAt } = report;
  const count = (wanted: Finding['state']): number =>
    findings.filter((finding) => finding.state === wanted).length;
  const shown = findings.filter(
    (finding) => showsAll || finding.state === 'fault' || finding.state === 'warning',
  );
  return (
    <Stack>
      <Text role="status">
        {state === 'running' && `${words.looking} `}
        {waiting.length > 0 && words.waiting(waiting.join(', '))}
        {state === 'done' &&
          words.summary(count('fault'), count('warning'), count('ok'), count('not-checked'))}
      </Text>
      {finishedAt !== null && (
        <Text size="sm" c="dimmed">
          {words.finished} <When at={finishedAt} />
        </Text>
      )}
      <Switch
        label={words.showAll}
        checked={showsAll}
        onChange={({ currentTarget }) => setShowsAll(currentTarget.checked)}
      />
      {shown.length > 0 && (
        <Rows
          caption={words.title}
          items={shown.map((finding, at) => ({ ...finding, at }))}
          rowKey={({ at }) => String(at)}
          columns={[
            {
              header: texts.audits.result,
              cell: (finding) => (
                <StatusBadge tone={TONES[finding.state]}>{words.states[finding.state]}</StatusBadge>
              ),
            },
            {
              header: texts.log.about,
              cell: ({ what }) => <span className="text-of-others">{what}</span>,
            },
            { header: words.finished, cell: (finding) => <Found finding={finding} /> },
          ]}
        />
      )}
    </Stack>
  );
}

function Found({ finding: { found, mend } }: { readonly finding: Finding }) {
  return (
    <div className="text-of-others">
      {found}
      {mend !== null && <Text size="sm" fw={500}>{`→ ${mend}`}</Text>}
    </div>
  );
}
