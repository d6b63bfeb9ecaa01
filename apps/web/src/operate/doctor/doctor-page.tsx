import { Button, Stack, Switch, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Rows } from '../../shared/keyed-table';
import { Empty, Problem } from '../../shared/loaded';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { When } from '../../shared/when';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';
import { useMayOperate } from '../operator';

type Report = ConsoleBody<'DoctorReport'>;
type Finding = ConsoleBody<'Finding'>;

const TONES: Readonly<Record<Finding['state'], Tone>> = {
  ok: 'good',
  warning: 'warning',
  fault: 'bad',
  'not-checked': 'neutral',
};
const words = texts.doctor;

/** Runs the doctor on request. */
export function DoctorPage() {
  const mayOperate = useMayOperate();
  const look = useMutation({ mutationFn: () => dataOf(consoleApi.POST('/api/operate/doctor')) });
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
      <div>
        <Button onClick={() => look.mutate()} loading={look.isPending} disabled={!mayOperate}>
          {words.look}
        </Button>
        {!mayOperate && <Text size="sm">{texts.shared.onlyOperators}</Text>}
      </div>
      {look.isError && <Problem problem={look.error} />}
      {look.isPending && <Text role="status">{words.looking}</Text>}
      {look.isIdle && <Empty>{words.never}</Empty>}
      {look.isSuccess && <Findings report={look.data} />}
    </Stack>
  );
}

function Findings({ report }: { readonly report: Report }) {
  const [showsAll, setShowsAll] = useState(false);
  const { findings, finishedAt } = report;
  const count = (wanted: Finding['state']): number =>
    findings.filter((finding) => finding.state === wanted).length;
  const shown = findings.filter(
    (finding) => showsAll || finding.state === 'fault' || finding.state === 'warning',
  );
  return (
    <Stack>
      <Text role="status">
        {words.summary(count('fault'), count('warning'), count('ok'), count('not-checked'))}
      </Text>
      <Text size="sm" c="dimmed">
        {words.finished} <When at={finishedAt} />
      </Text>
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
