import { type ConsoleBody } from '../api/console-client';
import { Alert, Stack, Text } from '@mantine/core';
import { PageLink } from '../shared/page-link';
import { Dialog } from '../desk/dialog';
import { When } from '../shared/when';
import { Bytes } from './bytes';
import { adviceOf, verdictText } from './plain-words';
import { questionOf } from './signature-question';
import { texts } from './texts';
import { type Tone } from '../shared/status-badge';

const words = texts.calls;

export function CallDetail({
  call,
  onClose,
}: {
  readonly call: Call;
  readonly onClose: () => void;
}) {
  const { begunAt, tookMs, requestId, error } = call;
  const advice = adviceOf(call);
  const thought = verdictText(call);
  return (
    <Dialog onClose={onClose} title={`${words.detail}: ${call.step}`} size="xl">
      <Stack>
        <Text>
          <When at={begunAt} />
          {tookMs !== null && ` · ${tookMs} ms`}
        </Text>
        <Text>{[outcomeText(call), thought].filter((one) => one !== '–').join(': ')}</Text>
        {advice !== undefined && (
          <Alert variant="outline" color="orange" title={words.advice}>
            {advice}
          </Alert>
        )}
        {error !== null && <Bytes label={words.error}>{error}</Bytes>}
        <Bytes label="X-API-REQUEST">{requestId}</Bytes>
        <Asked call={call} />
        <Came call={call} />
      </Stack>
    </Dialog>
  );
}

function Asked({ call: { request } }: { readonly call: Call }) {
  if (request === null) return null;
  return (
    <>
      <Bytes label={words.request}>{`${request.method} ${request.target}`}</Bytes>
      {request.body !== null && <Bytes label={words.requestBody}>{request.body}</Bytes>}
    </>
  );
}

function Came({ call }: { readonly call: Call }) {
  const { answer, baseString, verdict, clockDifferenceSeconds: difference } = call;
  if (answer === null) return null;
  const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
  const isSignatureWrong = verdict === 'bad-signature' || verdict === 'unsigned';
  const question = questionOf(call);
  return (
    <>
      <Bytes label={words.headers}>{headers.join('\n')}</Bytes>
      <Bytes label={`${words.body}, ${words.bytes(answer.bodyBytes)}`}>{answer.body}</Bytes>
      {difference !== null && Math.abs(difference) > 1 && (
        <Text size="sm">{words.clock(difference)}</Text>
      )}
      {baseString !== null && <SignedContent baseString={baseString} />}
      {isSignatureWrong && question !== undefined && (
        <PageLink to="/partner/signature" state={(before) => ({ ...before, kept: { question } })}>
          {words.debug}
        </PageLink>
      )}
    </>
  );
}

function SignedContent({ baseString }: { readonly baseString: NonNullable<Call['baseString']> }) {
  const { text, sha256, isWhole } = baseString;
  return (
    <>
      <Bytes label={texts.common.signed}>{text}</Bytes>
      {isWhole ? <Bytes label="SHA-256">{sha256}</Bytes> : <Text size="sm">{words.notWhole}</Text>}
    </>
  );
}

export type Call = ConsoleBody<'OwnCall'>;

export function toneOf({ outcome, verdict }: Call): Tone {
  if (outcome === null) return 'busy';
  if (outcome !== 'answer') return 'bad';
  return verdict === 'verified' ? 'good' : 'warning';
}

export function outcomeText({ outcome, answer }: Call): string {
  const shown = texts.calls.outcomes[outcome ?? 'open'] ?? '';
  return answer === null ? shown : `${shown} ${answer.status}`;
}
