import {
  Accordion,
  Alert,
  Button,
  Checkbox,
  Group,
  List,
  Progress,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf, getFrom } from '../api/console-client';
import { Loaded, Problem } from '../shared/loaded';
import { StatusBadge, type Tone } from '../shared/status-badge';
import { useKept } from '../shared/use-kept';
import { When } from '../shared/when';
import { Bytes } from './bytes';
import { isWallet } from './filters';
import { PageTitle } from '../desk/page-title';
import { OpenDeductions } from './open-deductions';
import { texts } from './texts';

const words = texts.conformance;
const KEY = ['partner', 'conformance'];
const LOOK_AGAIN_MS = 1000;

type Run = ConsoleBody<'ConformanceRun'>;
type Report = ConsoleBody<'ConformanceReport'>;
type Check = Report['checks'][number];

export function ConformancePage() {
  const query = useQuery({
    queryKey: KEY,
    queryFn: (context) => getFrom('/api/partner/conformance')(context),
    refetchInterval: ({ state }) => (isUnderWay(state.data?.run) ? LOOK_AGAIN_MS : false),
  });
  return (
    <>
      <PageTitle>{texts.nav.conformance}</PageTitle>
      <OpenDeductions />
      <Loaded query={query}>
        {({ consequence, run }) => (
          <Stack>
            {run !== null && isUnderWay(run) ? (
              <UnderWay run={run} />
            ) : (
              <Start consequence={consequence} last={run} />
            )}
            {run?.failure != null && <Problem problem={run.failure} />}
            {run?.report != null && <ReportShown run={run} report={run.report} />}
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function isUnderWay(run: Run | null | undefined): boolean {
  return run != null && run.endedAt === null;
}

interface StartProps {
  readonly consequence: string;
  /** The last run, whose player is the default for the next run. */
  readonly last: Run | null;
}

function Start({ consequence, last }: StartProps) {
  const client = useQueryClient();
  const [address, setAddress] = useKept('player', last?.address ?? '');
  const [emptyAddress, setEmptyAddress] = useKept('player without points', '');
  const [mayClaim, setMayClaim] = useState(false);
  const start = useMutation({
    mutationFn: () => {
      const body = { address, mayClaim, ...(emptyAddress !== '' && { emptyAddress }) };
      return dataOf(consoleApi.POST('/api/partner/conformance', { body }));
    },
    onSuccess: (data) => client.setQueryData(KEY, data),
  });
  const isReady = isWallet(address) && (emptyAddress === '' || isWallet(emptyAddress));
  return (
    <Stack>
      <Alert variant="outline" color="orange">
        {consequence}
      </Alert>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate();
        }}
      >
        <Stack maw={520}>
          <TextInput
            label={words.address}
            placeholder="0x…"
            required
            value={address}
            onChange={({ currentTarget }) => setAddress(currentTarget.value.trim())}
          />
          <TextInput
            label={words.empty}
            placeholder="0x…"
            value={emptyAddress}
            onChange={({ currentTarget }) => setEmptyAddress(currentTarget.value.trim())}
          />
          <Checkbox
            label={words.mayClaim}
            checked={mayClaim}
            onChange={({ currentTarget }) => setMayClaim(currentTarget.checked)}
          />
          <Group>
            <Button type="submit" disabled={!isReady} loading={start.isPending}>
              {words.start}
            </Button>
          </Group>
        </Stack>
      </form>
      {start.error !== null && <Problem problem={start.error} />}
    </Stack>
  );
}

function UnderWay({ run: { progress } }: { readonly run: Run }) {
  const stop = useMutation({ mutationFn: () => consoleApi.DELETE('/api/partner/conformance') });
  const { judged, checks, calls, now } = progress;
  return (
    <Stack>
      <Text role="status">{words.running}</Text>
      <Progress value={checks === 0 ? 0 : (judged * 100) / checks} aria-label={words.running} />
      <Text size="sm">{words.progress(judged, checks, calls)}</Text>
      <Text size="sm" className="text-of-others">
        {now}
      </Text>
      <Group>
        <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate()}>
          {words.stop}
        </Button>
      </Group>
    </Stack>
  );
}

type Outcome = keyof typeof words.outcomes;

const OUTCOME_TONES: Readonly<Record<Outcome, Tone>> = {
  conforms: 'good',
  warned: 'warning',
  violates: 'bad',
  incomplete: 'warning',
};

function ReportShown({ run, report }: { readonly run: Run; readonly report: Report }) {
  const { stopped, passed, errors, warnings, skipped, unresolved, spent, checks } = report;
  const isWarned = report.outcome === 'conforms' && warnings > 0;
  const outcome: Outcome = isWarned ? 'warned' : report.outcome;
  const isShownFirst = ({ status }: Check) => status === 'failed';
  const ordered = [...checks.filter(isShownFirst), ...checks.filter((one) => !isShownFirst(one))];
  return (
    <Stack component="section">
      <Title order={2} size="h3">
        {words.outcomes[outcome]}
      </Title>
      <Group>
        <StatusBadge tone={OUTCOME_TONES[outcome]}>
          {words.counts(passed, errors, warnings, skipped)}
        </StatusBadge>
        <Text size="sm">
          <When at={run.endedAt} />
        </Text>
        <Button size="compact-sm" variant="default" onClick={() => download(report.json)}>
          {words.download}
        </Button>
      </Group>
      {stopped !== null && <Text className="text-of-others">{stopped}</Text>}
      {unresolved.length > 0 && <Bytes label={words.unresolved}>{unresolved.join('\n')}</Bytes>}
      {spent.length > 0 && <Bytes label={words.spent}>{spent.join('\n')}</Bytes>}
      <Capabilities capabilities={report.capabilities} />
      <Accordion variant="contained">
        {ordered.map((check) => (
          <Accordion.Item key={check.id} value={check.id}>
            <Accordion.Control>
              <Group gap="sm">
                <StatusBadge tone={toneOf(check)}>{resultOf(check)}</StatusBadge>
                <span>{check.title}</span>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <CheckShown check={check} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}

function Capabilities({ capabilities }: Pick<Report, 'capabilities'>) {
  return (
    <section>
      <Title order={3} size="h4">
        {words.capabilities}
      </Title>
      <List my="xs">
        {capabilities.map(({ name, isFound }) => (
          <List.Item key={name}>
            <code>{name}</code>:{' '}
            {isFound === null ? words.unclear : isFound ? words.found : words.notFound}
          </List.Item>
        ))}
      </List>
      {capabilities.some(({ isFound }) => isFound === true) && (
        <Text size="sm">{words.turnOn}</Text>
      )}
    </section>
  );
}

function toneOf({ status, severity }: Check): Tone {
  if (status === 'passed') return 'good';
  if (status === 'skipped') return 'neutral';
  return severity === 'error' ? 'bad' : 'warning';
}

function resultOf({ status, severity }: Check): string {
  return status === 'failed' ? `${words.failed}: ${severity}` : words[status];
}

function CheckShown({ check }: { readonly check: Check }) {
  const { rule, remedy, observed, skippedBecause, status, exchanges } = check;
  return (
    <Stack gap="xs">
      <Text size="sm">
        <strong>{words.rule}:</strong> {rule}
      </Text>
      {skippedBecause !== null && <Text size="sm">{skippedBecause}</Text>}
      {observed !== null && <Bytes label={words.seen}>{observed}</Bytes>}
      {status === 'failed' && (
        <Text size="sm">
          <strong>{words.mend}:</strong> {remedy}
        </Text>
      )}
      {exchanges.map((one, place) => (
        <Bytes key={place} label={one.purpose}>
          {`${one.method} ${one.target}\n${one.body}\n\n${one.status ?? ''} ${one.fault ?? ''}\n${one.answer}`}
        </Bytes>
      ))}
    </Stack>
  );
}

/** Saves the report as a file; sends no request. */
function download(json: string): void {
  const url = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'lowmark-conformance.json';
  link.click();
  URL.revokeObjectURL(url);
}
